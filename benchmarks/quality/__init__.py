"""What the answers are worth: promises kept, and figures beside those of peers."""
