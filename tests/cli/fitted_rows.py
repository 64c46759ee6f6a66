"""The rows that the tests of ``sureleaf fit`` and ``sureleaf predict`` share."""

import numpy as np
import pyarrow as pa

N_ROWS = 2000


def make_rows(n: int = N_ROWS) -> pa.Table:
    """Codes that mostly look like numbers, missing values, and a nearly empty column."""
    rng = np.random.default_rng(1)
    size = rng.normal(size=n).round(3)
    code = rng.integers(1, 4, n).astype(str).astype(object)
    code[-20:] = "x"
    late = np.where(np.arange(n) < n - 50, np.nan, size)
    label = np.where(size + (code == "2") + rng.normal(size=n) > 0.3, "yes", "no")
    return pa.table(
        {
            "id": [f"{number:05}" for number in range(n)],
            "size": pa.array(np.where(rng.random(n) < 0.05, np.nan, size), from_pandas=True),
            "code": pa.array(code, pa.string()),
            "late": pa.array(late, from_pandas=True),
            "class": label,
        }
    )
