"""Tables larger than memory: time, memory and accuracy, beside LightGBM in the same run."""
