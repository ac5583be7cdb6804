"""From a machine as a dictionary to the text of a machine file."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import is_array, is_mapping, is_sequence


def _key(key: Any) -> str:
    text = str(key)
    return text if text and all(c.isascii() and (c.isalnum() or c in "-_") for c in text) else json.dumps(text)


def _value(value: Any, where: str) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if is_mapping(value):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v, f'{where}.{k}')}" for k, v in value.items()) + " }"
    if is_sequence(value) or is_array(value):
        return "[" + ", ".join(_value(v, where) for v in value) + "]"
    raise TypeError(f"{where} of the machine is a {type(value).__name__}: pass text, numbers, lists or dictionaries")


def _tables(table: Mapping[str, Any], path: str, lines: list[str]) -> None:
    def is_list_of_tables(value: Any) -> bool:
        return is_sequence(value) and len(value) > 0 and all(is_mapping(one) for one in value)

    for key, value in table.items():
        if not is_mapping(value) and not is_list_of_tables(value):
            lines.append(f"{_key(key)} = {_value(value, key)}")
    for key, value in table.items():
        name = f"{path}.{_key(key)}" if path else _key(key)
        for one in [value] if is_mapping(value) else value if is_list_of_tables(value) else []:
            lines.append(f"[{name}]" if is_mapping(value) else f"[[{name}]]")
            _tables(one, name, lines)


def machine_text(machine: Mapping[str, Any]) -> str:
    """The TOML text. Missing name, summary and source are filled in."""
    lines: list[str] = []
    words = {"name": "machine", "summary": "a machine described in Python", "source": "Python"}
    _tables({**words, **machine}, "", lines)
    return "\n".join(lines) + "\n"
