"""What commands share: reading a question, predictions, plans, terminal text and JSON."""
