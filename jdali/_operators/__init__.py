"""Operators: their records, arguments and layouts, and how they are called."""
