"""Text to tokens: `zero.tokenize()` and `python -m zero tokenize`."""
