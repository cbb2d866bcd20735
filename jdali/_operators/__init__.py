"""What an operator is: its record, its arguments and layouts, and how it is called."""
