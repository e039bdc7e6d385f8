"""Results of analyses: facts, and tables of numbers."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any, Union

from ._errors import Diagnostic, diagnostic
from ._results import Array, _table, text_table


class Table(Mapping[str, Array]):
    """Columns of numbers, by name: ``a["draws"]["k"]``."""

    def __init__(self, head: Mapping[str, Any], values: Array) -> None:
        self.name: str = head["name"]
        #: Names of the rows; empty where they have none.
        self.labels: list[str] = list(head.get("labels", []))
        #: Units of the columns, "" when unknown or dimensionless.
        self.units: dict[str, str] = {c["name"]: c["unit"] for c in head["columns"]}
        self._columns = {c["name"]: values[:, i] for i, c in enumerate(head["columns"])}

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        import pandas as pd

        return pd.DataFrame(dict(self._columns), index=self.labels or None)

    def __repr__(self) -> str:
        return f"<Table {self.name} of {', '.join(self)}>"

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        n = len(next(iter(self._columns.values()), ()))
        labels = list(self.labels) or [str(i + 1) for i in range(n)]
        most = 40
        rows = [
            [str(labels[i]), *(f"{c[i]:.6g}" if isinstance(c[i], float) else str(c[i]) for c in self._columns.values())]
            for i in range(min(n, most))
        ]
        if n > most:
            rows.append([f"… {n - most} more"])
        return ["", *self], rows

    def __str__(self) -> str:
        return text_table(*self._rows())

    def _repr_html_(self) -> str:
        heads, rows = self._rows()
        return _table(heads, [[html.escape(c) for c in r] for r in rows])


class Analysis(Mapping[str, Table]):
    """What an analysis gives: its tables by name."""

    def __init__(self, name: str, head: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self.name = name
        self.status: str = head["status"]
        #: Numbers and texts about the result as a whole.
        self.facts: dict[str, Union[float, str]] = {
            f["name"]: f.get("text") or float(f["value"]) for f in head["facts"]
        }
        self.warnings: list[Diagnostic] = [diagnostic(d) for d in head["warnings"]]
        self._tables = {t["name"]: Table(t, arrays[t["name"]]) for t in head["tables"]}

    def __getitem__(self, name: str) -> Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return f"<Analysis {self.name}: {', '.join(self)}>"


class Sample(Analysis):
    """Draws from a posterior: the tables params, modes and draws."""

    def draws(self) -> dict[str, Array]:
        """The draws of each param by its name, ``"k"`` or ``"A[1,2]"``: arrays of chains and draws."""
        table = self["draws"]
        return {name: self._chains(table[name]) for name in table if not name.endswith("__")}

    def _chains(self, column: Array) -> Array:
        """A column as an array of chains and draws; all chains are cut to the shortest."""
        import numpy as np

        chain = self["draws"]["chain__"]
        parts = [column[chain == c] for c in np.unique(chain)]
        shortest = min(len(x) for x in parts)
        return np.array([x[:shortest] for x in parts])

    def to_arviz(self) -> Any:
        """An arviz.InferenceData with the groups posterior and sample_stats.

        After ``sample(predictive=True)`` also log_likelihood, posterior_predictive and observed_data, with an array
        for each observation, and prior, with draws from the priors.
        """
        import arviz as az
        import numpy as np

        names = {
            "lp__": "lp", "accept_stat__": "acceptance_rate", "stepsize__": "step_size", "treedepth__": "tree_depth",
            "n_leapfrog__": "n_steps", "divergent__": "diverging", "energy__": "energy",
        }
        stats: dict[str, Any] = {to: self._chains(self["draws"][name]) for name, to in names.items()}
        stats["diverging"] = stats["diverging"] > 0
        groups: dict[str, Any] = {"posterior": _arrays(self.draws()), "sample_stats": stats}
        for name in ("log_likelihood", "posterior_predictive"):
            if name in self:
                groups[name] = _arrays({c: self._chains(x) for c, x in self[name].items()})
        if "prior" in self:  # of no chains
            groups["prior"] = _arrays({c: x[np.newaxis] for c, x in self["prior"].items()})
        if "log_likelihood" in self:
            data = self["predictions"]["data"]
            rows = {c: np.full((1, 1), y) for c, y in zip(self["log_likelihood"], data)}
            groups["observed_data"] = {k: x[0, 0] for k, x in _arrays(rows).items()}
        return az.from_dict(**groups)


def _arrays(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Columns [chains, draws] of elements such as A[1,2] as arrays [chains, draws, …]; others as they are."""
    import re

    import numpy as np

    out: dict[str, Any] = {}
    parts: dict[str, dict[tuple[int, ...], Array]] = {}
    for name, x in columns.items():
        m = re.fullmatch(r"(.*)\[(\d+(?:,\d+)*)\]", name)
        if m is None:
            out[name] = x
        else:
            parts.setdefault(m[1], {})[tuple(int(i) - 1 for i in m[2].split(","))] = x
    for name, elements in parts.items():
        shape = tuple(max(i) + 1 for i in zip(*elements))
        first = next(iter(elements.values()))
        whole: Array = np.full((*shape, *first.shape), np.nan)
        for index, x in elements.items():
            whole[index] = x
        out[name] = np.moveaxis(whole, range(len(shape)), range(-len(shape), 0))
    return out


__all__ = ["Analysis", "Sample", "Table"]
