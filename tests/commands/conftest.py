"""Small models for the tests of this folder."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_rounds(few_rounds: None) -> None:
    """A command shows the numbers of its model, whatever the rounds."""
