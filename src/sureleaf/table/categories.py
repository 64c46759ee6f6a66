"""A column as category codes, by inferred or given categories."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError
from sureleaf.table.dates import iso_text, temporal_numbers, temporal_of
from sureleaf.table.raw_column import MAX_EXACT, RawColumn
from sureleaf.table.schema import MISSING, UNSEEN

Codes = NDArray[np.int32]


_DENSE_RANGE: Final = 2**16
"""Integers within a range of this size are counted, not sorted, which is much faster on labels."""

_FEW_TEXTS: Final = 100
"""So few texts are looked up in a Python dict, which is faster than starting Arrow."""


def encode_texts(texts: Any) -> tuple[NDArray[np.int32], Any]:
    """Encode texts by the order of their first occurrence.

    For short texts that are often repeated, this is four times as fast as Arrow's
    dictionary_encode, and it does not copy chunks together.

    Return the codes, -1 for missing, and the text of each code.
    """
    import pyarrow as pa

    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    offset_type = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    codes = np.empty(len(texts), dtype=np.int32)
    coder = _kernel.TextCoder()
    distinct, start = [pa.array([], texts.type)], 0
    for chunk in filter(len, chunks):
        validity, offsets, data = chunk.buffers()
        end = start + len(chunk)
        new = coder.add(
            _view(offsets, offset_type),
            _view(data, np.uint8),
            _view(validity, np.uint8) if chunk.null_count else None,
            chunk.offset,
            codes[start:end],
        )
        if len(new):
            distinct.append(chunk.take(pa.array(new)))
        start = end
    return codes, pa.concat_arrays(distinct)


def _view(buffer: Any, dtype: type) -> NDArray[Any]:
    """Return the memory of an Arrow buffer as a NumPy array; empty texts have no buffer."""
    if buffer is None or not buffer.size:
        return np.empty(0, dtype)
    return np.frombuffer(buffer, dtype)


def infer_categories(column: RawColumn) -> tuple[Codes, tuple[object, ...]]:
    """Encode a column by its sorted distinct values.

    Text is sorted by code points, numbers and bools by size. Whole numbers are int, even if a
    library stored them as floats; dates are ISO text. Declared categories that no row has are
    dropped. The code of a missing value is -1.

    Examples
    --------
    >>> import numpy
    >>> from sureleaf.table.raw_column import from_numpy
    >>> codes, categories = infer_categories(from_numpy("x0", numpy.array([10.0, numpy.nan, 2.0])))
    >>> codes.tolist(), categories
    ([1, -1, 0], (2, 10))
    """
    if column.is_category:
        label_codes, categories = infer_categories(column.categories)
        return _drop_unused(look_up(label_codes, column.indices), categories)
    family = column.family
    if family == "null":
        return np.full(len(column.values), MISSING, np.int32), ()
    if family in ("text", "date"):
        return _infer_texts(_column_texts(column))
    values, missing = _exact_numbers(column)
    present = values if missing is None else values[~missing]
    distinct, codes = sorted_codes(present)
    if missing is not None:
        codes, present_codes = np.full(len(values), MISSING, np.int32), codes
        codes[~missing] = present_codes
    if family == "bool":
        distinct = distinct.astype(bool)
    return codes, tuple(distinct.tolist())


def declared_categories(column: RawColumn) -> tuple[Codes, tuple[object, ...]]:
    """Encode a column by its declared categories in their order, those without rows included.

    Numbers and bools are ordered by size. Text declares no order, which is an error.
    """
    if not column.is_category:
        if column.family == "text":
            raise InvalidArgumentError(
                f"column {column.name!r} must declare an order to be ordered; got text. Give its "
                f"categories from first to last: {{{column.name!r}: ['low', 'high']}}."
            )
        return infer_categories(column)
    label_codes, categories = infer_categories(column.categories)
    _, first = np.unique(label_codes[label_codes >= 0], return_index=True)
    order = np.argsort(first)
    rank = np.append(np.argsort(order), MISSING).astype(np.int32)
    codes = look_up(rank[label_codes], column.indices)
    return codes, tuple(categories[index] for index in order)


def match_categories(column: RawColumn, categories: tuple[object, ...]) -> Codes:
    """Encode a column by given categories.

    The code is -1 for missing values, and -2 for a value that is not one of the categories.
    """
    if column.is_category:
        return look_up(match_categories(column.categories, categories), column.indices)
    if column.family == "null":
        return np.full(len(column.values), MISSING, np.int32)
    if column.family in ("text", "date"):
        return _match_texts(_column_texts(column), categories)
    return _match_numbers(column, categories)


def sorted_codes(values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Return the sorted distinct values and the code of each value, like numpy.unique."""
    if values.dtype.kind in "iub" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < _DENSE_RANGE:
            # uint64 beyond 2**63 does not fit int64; the differences do.
            wide = values if values.dtype.kind == "u" else values.astype(np.int64, copy=False)
            offsets = (wide - wide.dtype.type(low)).astype(np.intp, copy=False)
            is_used = np.bincount(offsets) > 0
            rank = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
            distinct = np.flatnonzero(is_used).astype(wide.dtype) + wide.dtype.type(low)
            return distinct.astype(values.dtype), rank[offsets]
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes.astype(np.int32)


def _infer_texts(texts: Any) -> tuple[Codes, tuple[object, ...]]:
    import pyarrow.compute as pc

    if len(texts) <= _FEW_TEXTS:
        categories = tuple(sorted(set(texts.to_pylist()) - {None}))
        return _look_up_texts(texts, categories), categories
    codes, values = encode_texts(texts)
    # The byte order of UTF-8 is the order of code points, by which Python sorts.
    order = pc.array_sort_indices(values).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    _kernel.recode(codes, rank)
    return codes, tuple(values.take(order).to_pylist())


def _match_texts(texts: Any, categories: tuple[object, ...]) -> Codes:
    if len(texts) <= _FEW_TEXTS:
        return _look_up_texts(texts, categories)
    codes, values = encode_texts(texts)
    _kernel.recode(codes, _look_up_texts(values, categories))
    return codes


def _look_up_texts(texts: Any, categories: tuple[object, ...]) -> Codes:
    """Return the code of each text by given categories."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(texts) <= _FEW_TEXTS:
        code_of: dict[object, int] = {None: MISSING}
        code_of.update((category, code) for code, category in enumerate(categories))
        return np.array([code_of.get(text, UNSEEN) for text in texts.to_pylist()], np.int32)
    indices = pc.index_in(texts, value_set=pa.array(categories, type=texts.type))
    codes: Codes = indices.fill_null(UNSEEN).to_numpy()
    return codes


def _match_numbers(column: RawColumn, categories: tuple[object, ...]) -> Codes:
    values, missing = _exact_numbers(column)
    if categories:
        numbers = np.asarray(categories)
        order = np.argsort(numbers)
        ranks = np.minimum(np.searchsorted(numbers, values, sorter=order), len(numbers) - 1)
        candidates = order[ranks]
        codes = np.where(numbers[candidates] == values, candidates, UNSEEN).astype(np.int32)
    else:
        codes = np.full(len(values), UNSEEN, np.int32)
    if missing is not None:
        codes[missing] = MISSING
    return codes


def _column_texts(column: RawColumn) -> Any:
    """Return an Arrow array of text: the column itself, or its dates as ISO text."""
    import pyarrow as pa

    temporal = temporal_of(column.values.type)
    if temporal is None:
        return column.values
    distinct, codes = np.unique(temporal_numbers(column.values), return_inverse=True)
    texts = [None if np.isnan(number) else iso_text(number, temporal) for number in distinct]
    return pa.array(texts, pa.string()).take(pa.array(codes))


def _exact_numbers(column: RawColumn) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return exact numbers and which are missing; floats without a fraction become integers."""
    import pyarrow as pa

    values, missing = column.values, None
    if not isinstance(values, np.ndarray):
        if pa.types.is_decimal(values.type):
            values = values.cast(pa.float64())
        elif pa.types.is_boolean(values.type):
            values = values.cast(pa.uint8())
        if values.null_count:
            missing = values.is_null().to_numpy(zero_copy_only=False)
            values = values.fill_null(0)
        values = values.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f":
        is_nan = np.isnan(values)
        missing = is_nan if missing is None else is_nan | missing
        filled = np.where(missing, 0.0, values)
        if np.all(np.abs(filled) <= MAX_EXACT) and np.all(filled == np.rint(filled)):
            values = filled.astype(np.int64)
    if missing is not None and not missing.any():
        missing = None
    return values, missing


def look_up(code_of: Codes, indices: NDArray[np.integer[Any]]) -> Codes:
    """Return ``code_of[indices]``, with -1 (missing) for index -1."""
    codes = np.empty(len(indices), np.int32)
    _kernel.look_up(np.ascontiguousarray(indices), code_of, codes)
    return codes


def _drop_unused(codes: Codes, categories: tuple[object, ...]) -> tuple[Codes, tuple[object, ...]]:
    is_used = np.zeros(len(categories), np.bool_)
    _kernel.mark_used(codes, is_used)
    if is_used.all():
        return codes, categories
    _kernel.recode(codes, np.cumsum(is_used, dtype=np.int32) - np.int32(1))
    return codes, tuple(categories[code] for code in np.flatnonzero(is_used))
