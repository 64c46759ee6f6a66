"""The compiled module's routines, a line of meaning each."""

__all__: list[str] = []
