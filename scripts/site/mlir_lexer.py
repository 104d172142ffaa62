"""Highlighting of MLIR, which Pygments does not have."""

from pygments.lexer import RegexLexer, bygroups, words
from pygments.lexers import LEXERS
from pygments.token import (Comment, Keyword, Name, Number, Operator, Punctuation, String,
                            Whitespace)

__all__ = ["MlirLexer"]
NAME = r"[\w$.-]+"
TYPES = r"(?:[su]?i\d+|bf16|tf32|f\d+(?:E\d+M\d+\w*)?|index|none)\b"


class MlirLexer(RegexLexer):
    """The generic and the usual custom syntax; `...` stands for what an example leaves out."""

    name = "MLIR"
    aliases = ["mlir"]
    filenames = ["*.mlir"]
    url = ""

    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"//.*$", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"', String.Double),
            (rf"%{NAME}(?:[#:]\d+)?", Name.Variable),
            (rf'@(?:{NAME}|"[^"\n]*")', Name.Function),
            (rf"\^{NAME}", Name.Label),
            (rf"#{NAME}", Name.Constant),
            (rf"!{NAME}", Name.Class),
            (r"(tensor|memref|vector|complex|tuple|dense|array)(<)",
             bygroups(Keyword.Type, Punctuation), "shape"),
            (TYPES, Keyword.Type),
            (words(("true", "false", "unit", "dense", "loc", "affine_map", "attributes", "private",
                    "public", "module", "return", "to", "step", "else"), r"\b", r"\b"), Keyword),
            (r"[a-z_]\w*(?:\.\w+)+", Name.Builtin),
            (r"[-+]?(?:0x[\da-fA-F]+|\d+\.\d*(?:[eE][-+]?\d+)?|\d+)\b", Number),
            (r"->|[=+*/-]|::", Operator),
            (r"\.\.\.", Comment),
            (r"[A-Za-z_]\w*", Name),
            (r"[^\w\s]", Punctuation),
        ],
        "shape": [
            (r"(\d+|\?|\*)(x)", bygroups(Number.Integer, Punctuation)),
            (r"", Punctuation, "#pop"),
        ],
    }


def register():
    """Makes `get_lexer_by_name("mlir")` find the class."""
    LEXERS["MlirLexer"] = (__name__, MlirLexer.name, tuple(MlirLexer.aliases),
                           tuple(MlirLexer.filenames), ())
