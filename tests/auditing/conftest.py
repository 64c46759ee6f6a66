"""Small models for the tests of this folder."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_rounds(few_rounds: None) -> None:
    """An audit counts rows; the levels of the audited tree may come from few rounds."""
