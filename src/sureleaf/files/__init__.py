"""Tables from CSV, Parquet, Arrow, ARFF and Excel files; and files written all or nothing."""

from sureleaf.files.atomic_write import atomic_write
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.read_file import read_file

__all__ = ["CsvFormat", "atomic_write", "read_file"]
