"""Judge any classifier: designs, measures, costs, curves and bootstrap, frozen results out."""
