"""Which rows a model was fitted on, as a few fingerprints: such rows cannot certify a tree.

A fingerprint is a 64-bit number that follows from all cells of a row and its class. Whole numbers
count exactly, others with 17 binary digits, so that rows are recognised that came through float32,
or through text with six digits: that changes the 17 digits of one number in six at most. A model
keeps the smallest `KEPT` of them, so a row of the fit can be recognised if its fingerprint is at
most the largest one that is kept. The smallest fingerprints of two parts of a table, put together,
have those of the whole: a table in batches has the fingerprints of the same table in memory. Where
many rows are equal, as in tables of few categories, fresh rows equal rows of the fit by chance. How
often is estimated from the rows of the fit themselves: by the share of them that have a twin. Fresh
rows that are equal to each other count once, which makes this share an upper limit: frequent rows
are those that equal a row of the fit.

**How likely an error is.** A row that differs from all rows of the fit has the kept bits of one of
them with a probability of 256 / 2^24 to 256 / 2^23: once in 65,000 to 33,000 rows that can be
compared. Rows are refused if at least as many are equal as chance gives with probability 10^-6, by
an upper limit (99.9 %) of the share of twins. In a large table without twins this limit is
1 - 0.001^(1 / 4096) = 0.17 %, a hundred times the share of wrong matches. So fresh rows are refused
with probability 10^-6 at most, unless the limit is too low, which has probability 0.001.

All rows of a fit are always recognised, unless nearly every row has a twin. A part of them is
recognised if 3 of its rows can be compared, since 0.0017^3 < 10^-6. Of a share s of the rows of a
large table, 256 s can be compared on average, so a part is missed with the probability of fewer
than 3 by Poisson's distribution: 3 10^-9 with a tenth of the rows, 3 10^-4 with a twentieth, 11 %
with a fiftieth. Where fewer than 3 can be compared, or twins explain any number of equal rows, the
model cannot tell (`can_tell`), and a certificate says so. Among fresh rows, 3 equal rows are enough
if up to 11 can be compared, 4 if up to 43, 6 if up to 188.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import binom

from sureleaf import _kernel
from sureleaf.files.state_file import Damaged
from sureleaf.tree import TrainingRows

KEPT = 256
"""Fingerprints that a model keeps."""

KEPT_BITS = 24
"""Bits that are kept of each fingerprint, from the highest bit of the largest one that is kept."""

SAMPLED = 4096
"""Different rows by which twins are counted. They are more than are kept: the fewer equal rows are
to be expected by chance, the fewer are needed to recognise rows of the fit."""

SIGNIFICANCE = 1e-6
"""Chance gives so many equal rows with this probability at most, where rows are refused."""

LEAST_COMPARED = 3
"""Fewer rows than this are not recognised: two can be equal by chance in a table without twins."""

_LIMIT = 0.999  # of the upper limit for the share of twins


class EqualRows(NamedTuple):
    """How many rows could be compared with the rows of the fit, and how many of them are equal.

    Rows that are equal to each other count once in the last two, by which rows are recognised: a
    row that is frequent in the population says nothing, and would decide alone.
    """

    n_compared: int = 0
    n_equal: int = 0
    n_different: int = 0
    n_different_equal: int = 0


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Fingerprints of rows that took part in a fit.

    - `fingerprints`: the smallest ones, ascending, without repetition, and without their lowest
      bits.
    - `n_sampled`: rows of the fit by which twins were counted, those of these fingerprints among
      them.
    - `n_twins`: how many of them are equal to another row of the fit.
    - `is_complete`: whether these are all rows of the fit.
    - `n_dropped_bits`: how many of the lowest bits of 64 they lack.
    - `checksum`: sum of the fingerprints of all rows, modulo 2^64: the same for the same rows in
      any order.
    """

    fingerprints: NDArray[np.uint64]
    n_sampled: int
    n_twins: int
    is_complete: bool
    n_dropped_bits: int
    checksum: int

    def are_all(self, rows: TrainingRows) -> bool:
        """Whether the rows are exactly these, which also many twins cannot hide."""
        return _sum(row_prints(rows, 1)) == self.checksum

    def compare(self, rows: TrainingRows) -> EqualRows:
        """Count the rows that are equal to a row of the fit, among those that can be compared."""
        different, n_rows = np.unique(row_prints(rows, 1), return_counts=True)
        different >>= np.uint64(self.n_dropped_bits)
        if not self.is_complete:
            n_rows = n_rows[different <= self.fingerprints[-1]]
            different = different[: len(n_rows)]  # they are ascending
        is_equal = np.isin(different, self.fingerprints)
        of_rows = int(n_rows.sum()), int(n_rows[is_equal].sum())
        return EqualRows(*of_rows, len(different), int(is_equal.sum()))

    def expected_share(self) -> float:
        """Upper limit of the share of fresh rows that equal a row of the fit by chance."""
        others = self.n_sampled - self.n_twins
        return float(betaincinv(self.n_twins + 1, others, _LIMIT)) if others else 1.0

    def is_chance(self, equal_rows: EqualRows) -> bool:
        """Whether fresh rows can be expected to equal rows of the fit as often."""
        share = self.expected_share()
        n, n_equal = equal_rows.n_different, equal_rows.n_different_equal
        return float(binom.sf(n_equal - 1, n, share)) > SIGNIFICANCE

    def can_tell(self, equal_rows: EqualRows) -> bool:
        """Whether so many rows would be recognised if all of them were rows of the fit."""
        n, n_different = equal_rows.n_compared, equal_rows.n_different
        return not self.is_chance(EqualRows(n, n, n_different, n_different))

    def compares(self, equal_rows: EqualRows) -> bool:
        """Whether enough rows can be compared to recognise rows of the fit, if twins are rare."""
        return self.is_complete or equal_rows.n_different >= LEAST_COMPARED

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for a model file."""
        content = base64.b64encode(self.fingerprints.astype("<u8").tobytes()).decode()
        return {**vars(self), "fingerprints": content}

    @classmethod
    def from_plain(cls, written: Any) -> "SeenRows | None":
        """Restore what a model file has; None if it has none."""
        if written is None:
            return None
        try:
            content = base64.b64decode(written["fingerprints"], validate=True)
            seen = cls(
                np.frombuffer(content, dtype="<u8").astype(np.uint64),
                int(written["n_sampled"]),
                int(written["n_twins"]),
                written["is_complete"] is True,
                int(written["n_dropped_bits"]),
                int(written["checksum"]),
            )
        except (TypeError, ValueError, KeyError, OverflowError, binascii.Error):
            raise Damaged("its fingerprints of rows cannot be read") from None
        prints, n_sampled = seen.fingerprints, seen.n_sampled
        if not len(prints) or np.any(prints[1:] <= prints[:-1]):
            raise Damaged("its fingerprints of rows are not in order")
        if not 0 <= seen.n_dropped_bits < 64:
            raise Damaged("its fingerprints of rows have no bits")
        if not 0 <= seen.n_twins <= n_sampled or n_sampled < len(prints):
            raise Damaged("it counts more twins than rows")
        return seen


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """The smallest distinct fingerprints of some rows; those of parts of a table are added.

    - `smallest`: ascending, at most `SAMPLED`.
    - `counts`: how many rows have each.
    - `checksum`: sum of the fingerprints of all rows, modulo 2^64.
    """

    smallest: NDArray[np.uint64]
    counts: NDArray[np.int64]
    checksum: int

    @classmethod
    def of(cls, rows: TrainingRows, n_threads: int = 1) -> "Fingerprints":
        """Take the fingerprints of rows of positive weight."""
        every = row_prints(rows, n_threads)
        distinct, counts = np.unique(_smallest(every), return_counts=True)
        return cls(distinct[:SAMPLED], counts[:SAMPLED], _sum(every))

    def __add__(self, other: "Fingerprints") -> "Fingerprints":
        every = np.concatenate([self.smallest, other.smallest])
        distinct, index = np.unique(every, return_inverse=True)
        rows = np.bincount(index, np.concatenate([self.counts, other.counts])).astype(np.int64)
        checksum = (self.checksum + other.checksum) % _MODULUS
        return Fingerprints(distinct[:SAMPLED], rows[:SAMPLED], checksum)

    def seen(self) -> SeenRows | None:
        """Return what a model keeps of them; None without rows."""
        if not len(self.smallest):
            return None
        kept = self.smallest[:KEPT]
        n_dropped_bits = max(int(kept[-1]).bit_length() - KEPT_BITS, 0)
        return SeenRows(
            np.unique(kept >> np.uint64(n_dropped_bits)),
            int(self.counts.sum()),
            int(self.counts[self.counts > 1].sum()),
            len(self.smallest) <= KEPT,
            n_dropped_bits,
            self.checksum,
        )


def telling_part(parts: Sequence[tuple[SeenRows, EqualRows]]) -> tuple[SeenRows, EqualRows]:
    """Return which of several parts of the rows a model has seen says most about given rows.

    It is one of which they are rows, else one that cannot tell, else the first.
    """
    for seen, equal_rows in parts:
        if not seen.is_chance(equal_rows):
            return seen, equal_rows
    for seen, equal_rows in parts:
        if not seen.can_tell(equal_rows):
            return seen, equal_rows
    return parts[0]


def seen_rows(rows: TrainingRows, n_threads: int = 1) -> SeenRows | None:
    """Return what a model keeps of rows of positive weight; None for coded rows.

    The codes of a table in batches lack the numbers that fingerprints follow from. Its fingerprints
    are taken while it is read.
    """
    if rows.table.columns.are_codes:
        return None
    return Fingerprints.of(rows, n_threads).seen()


def row_prints(rows: TrainingRows, n_threads: int) -> NDArray[np.uint64]:
    """Return the fingerprints of rows of positive weight."""
    prints = _kernel.row_fingerprints(rows.kernel, rows.labels, n_threads)
    return prints if rows.weights is None else prints[rows.weights > 0]


_MODULUS = 1 << 64


def _sum(prints: NDArray[np.uint64]) -> int:
    return int(prints.sum(dtype=np.uint64))


def _smallest(prints: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the rows that have the smallest distinct fingerprints, at least `SAMPLED` of them."""
    # Fingerprints are evenly distributed, so a few times as many rows as are needed will do.
    share = 4 * SAMPLED / max(len(prints), 1)
    if share < 1:
        small = prints[prints < np.uint64(share * 2**64)]
        if len(np.unique(small)) >= SAMPLED:
            return small
    return prints
