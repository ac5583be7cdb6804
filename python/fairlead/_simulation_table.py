"""Results of simulations as a table."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, overload

from ._arrays import is_list

# 97.5 % quantiles of Student's distribution by degrees of freedom, from 1 on.
_STUDENT = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314,
    2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
_NORMAL = 1.959964


def student_quantile(degrees: int) -> float:
    """The 97.5 % quantile; beyond the table by the expansion of Cornish and Fisher, to four digits."""
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    z = _NORMAL
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean, and the ends of its 95 % interval: NaN for a single value."""
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return mean, math.nan, math.nan
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = student_quantile(len(values) - 1) * math.sqrt(variance / len(values))
    return mean, mean - half, mean + half


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if is_list(value):
        return f"[{len(value)}]"
    return str(value)


class SimulationTable(Sequence[dict[str, Any]]):
    """
    A list of rows, one dictionary for each run. ``str(table)`` shows the columns that differ, and the main results.

    ``table["seconds"]`` is a column, as a list; ``table[0]`` a row. A run that did not finish has no times: None.

    Examples
    --------
    >>> import fairlead as fl
    >>> table = fl.simulate("cholesky", n=9600, tile=960, scheduler=["eager", "darts"], machine="v100-pcie", gpus=1,
    ...                     memory="500MB", noise=5, seeds=3)
    >>> len(table), table[0]["tasks"]
    (6, 220)
    >>> [row["scheduler"] for row in table.group("scheduler")]
    ['eager', 'darts']
    """

    #: Shown first, and always.
    _RESULTS = (
        "seconds", "seconds_low", "seconds_high", "gflops", "percent_of_peak", "bytes_to_devices", "bytes_from_disk", "problem",
    )  # fmt: skip

    def __init__(self, rows: Sequence[dict[str, Any]], varied: Sequence[str] = ()) -> None:
        self._rows = list(rows)
        self.varied = tuple(varied)
        """The columns of the settings that were given as lists, except the seed."""

    @property
    def columns(self) -> list[str]:
        """The names of all columns: the settings first, then the results."""
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> SimulationTable: ...
    @overload
    def __getitem__(self, index: str) -> list[Any]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            if index not in self.columns:
                raise KeyError(f"there is no column {index!r}; there are {', '.join(self.columns)}")
            return [row.get(index) for row in self._rows]
        if isinstance(index, slice):
            return SimulationTable(self._rows[index], self.varied)
        row: int = index
        return self._rows[row]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def group(self, *by: str, value: str = "seconds") -> SimulationTable:
        """
        The mean of a result and its 95 % interval, over the seeds.

        Parameters
        ----------
        *by : str
            Columns: rows with the same values form a group. By default those settings that were given as lists.
        value : str, optional

        Returns
        -------
        SimulationTable
            The columns `by`, ``runs``, ``finished``, `value`, and `value` with ``_low`` and ``_high`` appended: the ends of the
            interval by Student's distribution, NaN for a single finished run. `value` is None if no run finished.
        """
        by = by or self.varied
        for name in (*by, value):
            if name not in self.columns:
                raise KeyError(f"there is no column {name!r}; there are {', '.join(self.columns)}")
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self._rows:
            groups.setdefault(tuple(_hashable(row.get(name)) for name in by), []).append(row)
        rows: list[dict[str, Any]] = []
        for members in groups.values():
            values = [row[value] for row in members if row.get(value) is not None]
            mean, low, high = interval(values) if values else (None, None, None)
            rows.append({
                **{name: members[0].get(name) for name in by},
                "runs": len(members),
                "finished": len(values),
                value: mean,
                f"{value}_low": low,
                f"{value}_high": high,
            })  # fmt: skip
        return SimulationTable(rows, by)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return _package("pandas").DataFrame({name: self[name] for name in self.columns})

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return _package("pyarrow").table({name: self[name] for name in self.columns})

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by name."""
        return {name: self[name] for name in self.columns}

    def show(self, columns: Sequence[str] | None = None) -> None:
        """Print the table. ``columns``: instead of those that differ and the main results."""
        print(self._table(columns or self._shown()))

    def _shown(self) -> list[str]:
        names = list(self.varied)
        if len({row.get("seed") for row in self._rows}) > 1:
            names.append("seed")
        names += [name for name in ("runs", "finished") if "runs" in self.columns]
        results = [name for name in self.columns if name in self._RESULTS or name.endswith(("_low", "_high"))]
        others = [] if results else self.columns
        shown = dict.fromkeys([*names, *results, *others])
        return [name for name in shown if any(value not in (None, 0) for value in self[name])]

    def _table(self, columns: Sequence[str]) -> str:
        cells = [list(columns), *([_text(row.get(name)) for name in columns] for row in self._rows)]
        numeric = [all(isinstance(row.get(name), (int, float, type(None))) for row in self._rows) for name in columns]
        widths = [min(40, max(len(line[i]) for line in cells)) for i in range(len(columns))]
        lines: list[str] = []
        for line in cells:
            padded = [
                text[:width].rjust(width) if right else text[:width].ljust(width)
                for text, width, right in zip(line, widths, numeric)
            ]
            lines.append("  ".join(padded).rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        return self._table(self._shown()) if self._rows else "no runs"

    def __repr__(self) -> str:
        return f"<SimulationTable of {len(self)} rows and {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            escaped = (cell.replace("&", "&amp;").replace("<", "&lt;") for cell in cells)
            return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in escaped) + "</tr>"

        columns = self._shown()
        body = "".join(row([_text(one.get(name)) for name in columns], "td") for one in self._rows)
        return f"<table><thead>{row(columns, 'th')}</thead><tbody>{body}</tbody></table>"


def _hashable(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed; to_dict() returns the columns without it") from None
