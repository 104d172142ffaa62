"""Compares a program with an evaluation of its model that shares no code with the compiler:
`python -m zero check-model`."""
