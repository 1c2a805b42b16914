"""A harness that lets a small local model finish real tasks by itself."""

__version__ = "0.1.0"
