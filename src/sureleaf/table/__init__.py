"""Any data frame or file -> EncodedTable: columns as numbers or category codes, labels as codes.

::

    schema.py      Column, Schema: what the columns are
    encoded.py     EncodedTable: what the learner gets
    frames.py      X of any library -> columns on demand
    values.py      one column of any library -> one of two forms
    numeric.py     a column -> float64, without a copy where there is a way
    texts.py       text of Arrow -> codes
    categories.py  a column -> codes, by categories learnt or given
    dates.py       dates -> numbers -> ISO text
    learning.py    read_table: what a fit does
    encoding.py    encode: what a prediction does
    parts.py       some rows of an encoded table, as if they had been read alone
    labels.py      encode_labels: labels -> class codes
    callers.py     warnings that point at the caller's line
    source.py      file, pipe or standard input -> bytes, decompressed; what they are
    utf8.py        bytes of an encoding -> UTF-8, or where it is wrong
    dialect.py     first rows of a CSV file -> how it is written
    csv_text.py    CSV -> Arrow table
    doubts.py      what looks wrong in it
    files.py       read_file: CSV, Parquet, Arrow -> Arrow table
    batches.py     stream_rows: the same, some rows at a time, by a schema
"""

from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.read_file import column_names, read_file
from sureleaf.table.encoded_table import EncodedTable
from sureleaf.table.encoding import encode
from sureleaf.table.infer_schema import read_table
from sureleaf.table.labels import encode_labels
from sureleaf.table.row_stream import RowStream, stream_rows
from sureleaf.table.schema import MISSING, UNSEEN, Column, Schema

__all__ = [
    "MISSING",
    "UNSEEN",
    "Column",
    "CsvFormat",
    "EncodedTable",
    "RowStream",
    "Schema",
    "column_names",
    "encode",
    "encode_labels",
    "read_file",
    "read_table",
    "stream_rows",
]
