"""How correct the results are: statistical promises, and measures beside those of peers."""
