"""Any data frame -> EncodedTable: columns as numbers or category codes, labels as class codes.

In the order data passes::

    raw_column.py     one column of any library, as a NumPy or an Arrow array
    frames.py         X of any library -> its columns, converted on demand
    schema.py         Column, Schema: names, kinds and categories
    dates.py          dates and times <-> numbers
    categories.py     a column -> category codes
    encoded_table.py  EncodedTable: the table that trees are grown on
    encoding.py       read_table: infer the schema and encode; encode: by a known schema;
                      numeric_matrix: numbers for classifiers of other libraries
    labels.py         encode_labels: labels -> class codes
    row_stream.py     stream_rows: a file in batches of rows, typed by a schema; imported when used
"""

from sureleaf.table.encoded_table import EncodedTable
from sureleaf.table.encoding import encode, max_categories, numeric_matrix, read_table
from sureleaf.table.labels import encode_labels
from sureleaf.table.schema import MISSING, UNSEEN, Column, Schema

__all__ = [
    "MISSING",
    "UNSEEN",
    "Column",
    "EncodedTable",
    "Schema",
    "encode",
    "encode_labels",
    "max_categories",
    "numeric_matrix",
    "read_table",
]
