"""How good is what the library says? Each module prints its tables, beside peers in the same run."""
