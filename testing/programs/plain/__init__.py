"""Plain clients and what the programs in Python share."""
