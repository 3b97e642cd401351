"""Says what is wrong with a value in ci/cells.toml, by its key."""

from typing import Any

# The name of each type of value, and an example.
WRITTEN = {str: ("a text", '"…"'), list: ("a list", '["…"]'), int: ("a whole number", "5"), bool: ("true or false", "true"), dict: ("a table", "{ … }")}
LEAST, FILLED = {"timeout": 1, "retries": 0, "megabytes": 1, "shards": 1}, {"run", "steps", "labels"}
# Lists are of strings, except these.
OF_TABLES = {"cell", "steps", "exclude"}


def misfit(key: str, value: Any, kind: Any) -> str:
    """Returns what is wrong with the value of a key; an empty text if nothing is."""
    if type(value) is not kind:
        called, written = WRITTEN[kind]
        return f"is not {called}: write {'[[cell]]' if key == 'cell' else f'{key} = {written}'}"
    if key in LEAST and value < LEAST[key]:
        return f"is less than {LEAST[key]}"
    if key in FILLED and not (value.strip() if kind is str else value):
        return "is empty"
    if kind is list and key not in OF_TABLES and not all(isinstance(item, str) for item in value):
        return "is not a list of strings"
    return "has a zero byte, which no command can have" if has_zero_byte(value) else ""


def has_zero_byte(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return any("\0" in str(item) for item in items)
