"""Fitted models for other programs."""
