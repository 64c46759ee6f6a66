"""With what a document was made, and when."""

import platform
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sureleaf.report.findings.origin import Origin

__all__ = ["made_section"]


def made_section(origin: Origin) -> dict[str, Any]:
    """Return versions, the date and what is known of the file.

    Examples
    --------
    >>> made_section(Origin("class"))["numpy"] == np.__version__
    True
    """
    import scipy
    import sklearn

    import sureleaf

    return {
        "sureleaf": sureleaf.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit_learn": sklearn.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "data_sha256": origin.data_sha256,
    }
