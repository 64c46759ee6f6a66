"""Names, text, numbers and dates in the SQL of DuckDB, SQLite, PostgreSQL and Spark."""

from dataclasses import dataclass
from math import isinf
from typing import Any

from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.tree_view import printable
from sureleaf.table import Column


@dataclass(frozen=True)
class SqlDialect:
    """The SQL of one database; `name` is its product name."""

    name: str
    n_bits: int | None = None  # of its largest whole numbers; None without a limit
    ignores_case: bool = True  # whether column names that differ in case alone are the same
    # A database that inlines one step into the next would repeat its work wherever a column is
    # used. Spark does not do so where it costs, and does not know the word.
    materialized: str = " MATERIALIZED"
    numbers_rows: bool = True  # whether row_number() needs no order
    quote: str = '"'  # around names

    def name_of(self, name: str) -> str:
        """Quote the name of a column or table."""
        if "\0" in name or not name:
            raise InvalidArgumentError(
                f"a name in SQL must not be empty or have a NUL; got {name!r}. Rename the column."
            )
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def comment(self, text: str) -> str:
        """Write a comment to the end of the line."""
        return f"-- {printable(text)}"

    def text(self, text: str) -> str:
        """Write text as a literal, with quotes and backslashes escaped."""
        return "'" + text.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """Write a float64 as a literal that the database reads exactly."""
        return f"{float(value)!r}e0" if "e" not in repr(float(value)) else repr(float(value))

    def whole(self, value: int) -> str:
        """Write a whole number as a literal that the database reads exactly."""
        if self.n_bits is not None and not -1 <= value >> (self.n_bits - 1) <= 0:
            raise InvalidArgumentError(
                f"categories and labels must be whole numbers of {self.n_bits} bits for an export "
                f"to {self.name}; got {value}. Export to Python or for PostgreSQL, or fit again "
                "with them as text."
            )
        return str(value)

    def missing_as_null(self, expression: str) -> str:
        """Convert a column of numbers to float64, and NaN to NULL."""
        raise NotImplementedError

    def whole_or_null(self, expression: str) -> str:
        """Return a column of whole numbers as it is, and NaN as NULL."""
        return f"CASE WHEN {self.missing_as_null(expression)} IS NOT NULL THEN {expression} END"

    def as_text(self, expression: str) -> str:
        """Convert a column of text categories to text that is compared byte by byte."""
        raise NotImplementedError

    def as_whole(self, expression: str) -> str:
        """Convert a column of bools to 0 and 1."""
        return f"CAST({expression} AS INTEGER)"

    def moment(self, expression: str, temporal: str) -> str:
        """Convert dates to days since 1970, other times to microseconds."""
        raise NotImplementedError

    def value(self, column: Column, expression: str) -> str:
        """Write the value of a column as the tree compares it: a number or a category."""
        if column.kind == "date":
            return self.moment(expression, str(column.temporal))
        family = column.category_family
        if family == "text":
            return self.as_text(expression)
        if family == "bool":
            return self.as_whole(expression)
        numbers = column.categories
        if all(isinstance(c, int) for c in numbers) and any(abs(c) >= 2**53 for c in numbers):  # type: ignore[arg-type]
            return self.whole_or_null(expression)  # float64 would round them
        return self.missing_as_null(expression)

    def category(self, column: Column, category: Any) -> str:
        """Write a category as a literal that is compared with `value`."""
        if isinstance(category, str):
            return self.text(category)
        if isinstance(category, int):  # bools too
            return self.whole(int(category))
        return self.number(category)

    def label(self, label: Any) -> str:
        """Write a class label as a literal."""
        if isinstance(label, bool):
            return "TRUE" if label else "FALSE"
        if isinstance(label, int):
            return self.whole(label)
        return self.number(label) if isinstance(label, float) else self.text(str(label))


@dataclass(frozen=True)
class _DuckDB(SqlDialect):
    def text(self, text: str) -> str:
        parts = [super(_DuckDB, self).text(part) for part in text.split("\0")]
        return parts[0] if len(parts) == 1 else f"({' || chr(0) || '.join(parts)})"

    def number(self, value: float) -> str:
        if isinf(value):
            return f"CAST('{float(value)!r}' AS DOUBLE)"
        return super().number(value)

    def missing_as_null(self, expression: str) -> str:
        return f"NULLIF(CAST({expression} AS DOUBLE), CAST('nan' AS DOUBLE))"

    def as_text(self, expression: str) -> str:
        return f"CAST({expression} AS VARCHAR)"

    def moment(self, expression: str, temporal: str) -> str:
        if temporal == "date":
            return f"epoch_us(CAST({expression} AS TIMESTAMP)) / 86400000000.0e0"
        kind = {"utc": "TIMESTAMPTZ", "duration": "INTERVAL"}.get(temporal, temporal.upper())
        return f"CAST(epoch_us(CAST({expression} AS {kind})) AS DOUBLE)"


@dataclass(frozen=True)
class _PostgreSQL(SqlDialect):
    def text(self, text: str) -> str:
        if "\0" in text:
            raise InvalidArgumentError(
                f"categories and labels must have no NUL for an export to PostgreSQL, whose text "
                f"cannot hold one; got {text!r}. Export for DuckDB or SQLite or to Python, or fit "
                "again without it."
            )
        written = super().text(text).replace("\\", "\\\\")
        return f"E{written}" if "\\" in written else written

    def number(self, value: float) -> str:
        return f"CAST('{float(value)!r}' AS double precision)"

    def missing_as_null(self, expression: str) -> str:
        return f"NULLIF(CAST({expression} AS double precision), CAST('NaN' AS double precision))"

    def as_text(self, expression: str) -> str:
        return f'CAST({expression} AS text) COLLATE "C"'

    def moment(self, expression: str, temporal: str) -> str:
        kinds = {"date": "timestamp", "utc": "timestamptz", "duration": "interval"}
        kind = kinds.get(temporal, temporal)
        seconds = f"EXTRACT(EPOCH FROM CAST({expression} AS {kind}))"
        microseconds = f"CAST({seconds} * 1000000 AS double precision)"
        return f"{microseconds} / 86400000000" if temporal == "date" else microseconds


@dataclass(frozen=True)
class _SQLite(SqlDialect):
    def text(self, text: str) -> str:
        if "\0" in text:
            return f"CAST(x'{text.encode().hex()}' AS TEXT)"
        return super().text(text)

    def number(self, value: float) -> str:
        """Write a number exactly: SQLite may read long decimals with a wrong last bit."""
        if isinf(value):
            return "9e999" if value > 0 else "-9e999"
        top, bottom = float(value).as_integer_ratio()
        if abs(top) < 2**53 and bottom == 1:
            return f"{top}.0"
        return _fraction(top, bottom.bit_length() - 1)

    def missing_as_null(self, expression: str) -> str:
        return f"CAST(NULLIF({expression}, '') AS REAL)"

    def whole_or_null(self, expression: str) -> str:
        return f"CAST(NULLIF({expression}, '') AS NUMERIC)"

    def as_text(self, expression: str) -> str:
        return f"CAST({expression} AS TEXT) COLLATE BINARY"

    def as_whole(self, expression: str) -> str:
        number = self.missing_as_null(expression)
        return f"CASE lower({expression}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE {number} END"

    def moment(self, expression: str, temporal: str) -> str:
        if temporal == "duration":
            raise InvalidArgumentError(
                "model must not test a duration for an export to SQLite, which has no durations. "
                "Export to Python, or fit again with the column as a number."
            )
        clock = f"'1970-01-01 ' || {expression}" if temporal == "time" else expression
        zone = f" || ltrim(substr({clock}, 20), '.0123456789')" if temporal == "utc" else ""
        # SQLite rounds to milliseconds: convert the seconds and their fraction separately.
        seconds = f"strftime('%s', substr({clock}, 1, 19){zone})"
        part = (
            f"CASE WHEN substr({clock}, 20, 1) = '.' "
            f"THEN round(CAST('0.' || substr({clock}, 21, 6) AS REAL) * 1000000) ELSE 0 END"
        )
        ticks = f"({seconds} * 1000000.0 + {part})"
        return f"{ticks} / 86400000000.0" if temporal == "date" else ticks


@dataclass(frozen=True)
class _Spark(SqlDialect):
    def name_of(self, name: str) -> str:
        if "${" in name:
            raise InvalidArgumentError(
                f"a name in Spark's SQL must not have '${{', which Spark replaces; got {name!r}. "
                "Rename the column."
            )
        return super().name_of(name)

    def text(self, text: str) -> str:
        """Escape, too, what Spark would replace by a variable of the environment."""
        escapes = {"\\": "\\\\", "'": "\\'", "\0": "\\0", "$": "\\u0024"}
        return "'" + "".join(escapes.get(letter, letter) for letter in text) + "'"

    def comment(self, text: str) -> str:
        """End with a space where a backslash would continue the comment on the next line."""
        written = super().comment(text).replace("${", "$ {")
        return f"{written} " if written.endswith("\\") else written

    def number(self, value: float) -> str:
        if isinf(value):
            return f"CAST('{'-' if value < 0 else ''}Infinity' AS DOUBLE)"
        return f"{super().number(value)}D"

    def missing_as_null(self, expression: str) -> str:
        return f"NULLIF(CAST({expression} AS DOUBLE), CAST('NaN' AS DOUBLE))"

    def as_text(self, expression: str) -> str:
        return f"CAST({expression} AS STRING)"

    def moment(self, expression: str, temporal: str) -> str:
        if temporal == "utc":
            return f"CAST(unix_micros(CAST({expression} AS TIMESTAMP)) AS DOUBLE)"
        if temporal == "time":
            raise InvalidArgumentError(
                "model must not test a time of day for an export to Spark, which has no such type. "
                "Export to Python, or fit again with the column as a number."
            )
        # Without a time zone, which would be that of the session.
        span = f"(CAST({expression} AS TIMESTAMP_NTZ) - TIMESTAMP_NTZ '1970-01-01 00:00:00')"
        if temporal == "duration":
            span = f"CAST({expression} AS INTERVAL DAY TO SECOND)"
        units = (("DAY", 86400), ("HOUR", 3600), ("MINUTE", 60), ("SECOND", 1))
        seconds = " + ".join(
            f"CAST(EXTRACT({unit} FROM {span}) AS DECIMAL(18, 6)) * {size}" for unit, size in units
        )
        microseconds = f"CAST(({seconds}) * 1000000 AS DOUBLE)"
        return f"{microseconds} / 86400000000.0e0D" if temporal == "date" else microseconds


def _fraction(top: int, power: int) -> str:
    """Write top / 2**power with whole numbers, which every version reads exactly."""
    while top % 2 == 0 and top:
        top, power = top // 2, power - 1
    sign = "/" if power > 0 else "*"
    steps, left = [], abs(power)
    while left:
        steps.append(f" {sign} CAST({2 ** min(left, 62)} AS REAL)")
        left -= min(left, 62)
    return f"({top}.0{''.join(steps)})"


DIALECTS: dict[str, SqlDialect] = {
    "duckdb": _DuckDB("DuckDB", 128),
    "sqlite": _SQLite("SQLite", 64),
    "postgresql": _PostgreSQL("PostgreSQL", ignores_case=False),
    "spark": _Spark("Spark", 64, materialized="", numbers_rows=False, quote="`"),
}
"""Name of a dialect -> its SQL."""
