"""Evaluation of any classifier: designs, measures, costs, curves and bootstrap errors."""
