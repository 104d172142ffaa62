"""Interfaces of other libraries, on Zero."""
