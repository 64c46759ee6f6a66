"""Text that comes from files cannot change what a terminal shows."""

import json
import sys

import pytest

from sureleaf.errors import InvalidArgumentError, shortened
from sureleaf.formatting import signed_number, visible


def test_every_control_character_is_visible_and_no_letter_changes() -> None:
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        shown = visible(letter)
        if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
            assert shown.isascii()
            assert shown.isprintable()
        elif letter.isprintable():
            assert shown == letter
    for (
        letter
    ) in "\u180e\u200b\u2060\u2064\ufeff\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069":
        assert visible(letter) == f"\\u{ord(letter):04x}"
    assert visible("a\xad\U000e0041") == "a\\xad\\U000e0041"
    assert visible("\u200c\u200d") == "\u200c\u200d"


def test_json_with_visible_characters_means_the_same() -> None:
    value = {"a\x9b\u202e": ["\x1b[2J", "\ud800", "plain é", "\U000e0041\ufeff"]}
    text = visible(json.dumps(value, ensure_ascii=False, indent=1), keep="\n", json=True)
    assert json.loads(text) == value
    assert visible(text, keep="\n") == text


def test_a_message_repeats_at_most_80_letters_of_a_cell() -> None:
    error = InvalidArgumentError(f"y must be a number; got {'a' * 10**7!r}. Correct it.")
    assert len(str(error)) < 200
    assert str(error).endswith("…'. Correct it.")
    assert len(shortened("word " * 10**6)) < 5_000
    with pytest.raises(InvalidArgumentError, match="short"):
        raise InvalidArgumentError("short")


def test_the_ends_of_an_interval_of_costs_have_the_same_decimals() -> None:
    assert [signed_number(end) for end in (0.00094, 0.182)] == ["+0.001", "+0.182"]
    assert signed_number(0.00002) == "+2e-05"
