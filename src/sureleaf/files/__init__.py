"""Files of rows: CSV, Parquet and Arrow, compressed or not, and how files are written."""

__all__: list[str] = []
