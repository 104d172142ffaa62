"""What the arguments of tokenize() that are one of several words may be."""

TRAINED = ("completions", "last", "all")
OVERLONG = ("truncate", "drop", "split")
LABELS = ("same", "shifted")
SAMPLE_BY = ("line", "paragraph", "document")
