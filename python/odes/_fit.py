"""Results of fits, and models beside their data."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union, overload

import numpy as np

from ._errors import Diagnostic, diagnostic
from ._results import Array, Number, Variable, _axes, _number, _table, text_table


@dataclass(frozen=True)
class Estimate:
    """What a fit says of a param, or of the initial value of a state: numbers, or arrays with its shape."""

    name: str
    unit: str  #: "" when unknown or dimensionless
    value: Number
    stderr: Number  #: standard error; NaN where there is none
    lower: Number  #: end of the interval at ``settings["level"]``; -inf where the data do not end it
    upper: Number  #: likewise; inf where the data do not end it
    before: Number  #: the value that the search began with
    low: Number  #: lower bound
    high: Number  #: upper bound
    at_bound: Number  #: -1 or 1 where the estimate is at a bound, else 0
    log: bool  #: whether it was searched on a logarithmic scale
    open: list[tuple[str, str]]  #: why the interval of each element has no end below and above: "", "bound", "flat", …
    profile: list[Array]  #: of each element: values [k, 2] and by how much the objective rises at the least there

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class Start:
    """A search."""

    number: int  #: 0 is that from the values in the model
    status: str  #: "converged", "limit" (of iterations), "stuck", "stopped" or "failed"
    why: str  #: in words
    value: float  #: of the objective where it ended; NaN where it failed
    begin: Array  #: where it began, [n]
    end: Array  #: where it ended, [n]; NaN where it failed
    evaluations: int
    failures: int  #: of these
    iterations: int
    seconds: float
    cluster: int  #: which minimum it came to, counted from 0; -1 for none


@dataclass(frozen=True)
class Compared:
    """An observation in an experiment, beside what the model says: arrays [rows]."""

    experiment: str  #: "" for none
    observation: str
    unit: str  #: "" when unknown or dimensionless
    t: Array  #: in the model's unit of time
    data: Array
    value: Array  #: of the model
    stderr: Array  #: of value, by the estimates; NaN without a fit
    sd: Array  #: standard deviation of the data around value; NaN where the distribution has none
    residual: Array  #: how many of these the data lie from value
    below: Array  #: 1 where it is only known that the value is at most the datum
    above: Array  #: 1 where it is only known that the value is at least the datum


class Predictions(Sequence[Compared]):
    """What a model says beside its data, observation by observation."""

    def __init__(self, head: Sequence[dict[str, Any]], rows: Array, time: str, time_unit: str) -> None:
        self.time, self.time_unit = time, time_unit
        self._list, at = [], 0
        for o in head:
            part = rows[at : at + o["rows"]].T
            at += o["rows"]
            self._list.append(Compared(o["experiment"], o["observation"], o["unit"], *part))

    @overload
    def __getitem__(self, i: int) -> Compared: ...
    @overload
    def __getitem__(self, i: slice) -> list[Compared]: ...
    def __getitem__(self, i: Union[int, slice]) -> Union[Compared, list[Compared]]:
        return self._list[i]

    def __len__(self) -> int:
        return len(self._list)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: a row for each datum."""
        import pandas as pd

        columns = ("t", "data", "value", "stderr", "sd", "residual", "below", "above")
        tables = []
        for o in self:
            table = pd.DataFrame({c: getattr(o, c) for c in columns})
            table.insert(0, "observation", o.observation)
            table.insert(0, "experiment", o.experiment)
            tables.append(table)
        return pd.concat(tables, ignore_index=True).rename(columns={"t": self.time}) if tables else pd.DataFrame()

    def plot(self, ax: Any = None) -> Any:
        """Data as points and what the model says as lines, on matplotlib axes, which are returned."""
        ax = ax or _axes()
        units = {o.unit for o in self}
        for o in self:
            label = f"{o.experiment} {o.observation}".strip()
            order = np.argsort(o.t, kind="stable")
            (line,) = ax.plot(o.t[order], o.value[order], label=label)
            ax.plot(o.t, o.data, "o", color=line.get_color())
            if np.isfinite(o.stderr).any():
                near, far = o.value - 1.96 * o.stderr, o.value + 1.96 * o.stderr
                ax.fill_between(o.t[order], near[order], far[order], color=line.get_color(), alpha=0.2, lw=0)
        ax.set_xlabel(f"{self.time} [{self.time_unit}]" if self.time_unit else self.time)
        if len(units) == 1 and "" not in units:
            ax.set_ylabel(f"[{units.pop()}]")
        ax.legend()
        return ax


class Fit(Mapping[str, Estimate]):
    """The result of a fit: a mapping from what was searched for to its estimate.

    ``f["k"].value``, ``f["k"].stderr``; ``m.sens(set=f.params)`` continues with the estimates.
    """

    def __init__(self, head: dict[str, Any], arrays: dict[str, Array], time: str, time_unit: str) -> None:
        self._head, self._arrays = head, arrays
        self.variables = [
            Variable(v["name"], v["unit"], tuple(v["shape"]), v["offset"]) for v in head["variables"]
        ]  #: what was searched for
        #: What the model says beside the data, with the estimates; empty where the objective is not one of data.
        self.predictions = Predictions(head["observations"], arrays["predictions"], time, time_unit)

    def __getitem__(self, name: str) -> Estimate:
        for v, h in zip(self.variables, self._head["variables"]):
            if v.name == name:
                parts = ("estimates", "stderr", "lower", "upper", "before", "low", "high", "at_bound")
                numbers = [_number(self._arrays[p][v.columns].reshape(v.shape)) for p in parts]
                open_ = [(low, high) for low, high in self._head["open"][v.columns]]
                rows = self._arrays["profile"]
                profile = [rows[rows[:, 0] == i, 1:] for i in range(v.columns.start, v.columns.stop)]
                value, stderr, lower, upper, before, low, high, at_bound = numbers
                return Estimate(
                    v.name, v.unit, value, stderr, lower, upper, before, low, high, at_bound, h["log"], open_, profile
                )
        raise KeyError(f"{name!r} was not searched for: {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return (v.name for v in self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    @property
    def status(self) -> str:
        """ "ok", or "partial" where no minimum is certified (see kkt), or numbers are not to be trusted."""
        return str(self._head["status"])

    # A mapping has values(), so the estimates by name have another name.
    @property
    def params(self) -> dict[str, Number]:
        """The estimates by name, as ``set=`` takes them."""
        return {name: self[name].value for name in self}

    @property
    def objective(self) -> str:
        """The name of what was minimised or maximised."""
        return str(self._head["objective"]["name"])

    @property
    def value(self) -> float:
        """The objective at the estimates."""
        return float(self._head["value"])

    @property
    def error(self) -> float:
        """The estimated error of value."""
        return float(self._head["value_error"])

    @property
    def gradient_norm(self) -> float:
        """The largest derivative by an estimate, times the size of that, at a minimum within the bounds."""
        return float(self._head["gradient_norm"])

    @property
    def kkt(self) -> dict[str, float]:
        """How far the estimates are from a minimum: stationarity, feasibility and noise.

        stationarity is what could still be gained nearby, noise what errors of the run may hide, both relative to 1 for
        a likelihood; feasibility is the largest violation of a constraint. status is "ok" only where all are small.
        """
        return {name: float(x) for name, x in self._head["kkt"].items()}

    @property
    def names(self) -> list[str]:
        """Names of the elements of what was searched for, [n]."""
        return [name for v in self.variables for name in v.elements]

    @property
    def correlation(self) -> Optional[Array]:
        """Correlations of the estimates, [n, n]; None where there are no standard errors."""
        return self._arrays.get("correlation")

    @property
    def starts(self) -> list[Start]:
        """The searches, the best first."""
        a = self._arrays
        return [
            Start(
                s["number"],
                s["status"],
                s["why"],
                float(a["start_values"][i]),
                a["start_from"][i],
                a["start_to"][i],
                s["evaluations"],
                s["failures"],
                s["iterations"],
                float(s["seconds"]),
                s["cluster"],
            )
            for i, s in enumerate(self._head["starts"])
        ]

    @property
    def identifiable(self) -> bool:
        """Whether the data tell every estimate."""
        return not self._head["unidentified"]

    @property
    def unidentified(self) -> list[dict[str, float]]:
        """Combinations of estimates that the data do not tell: relative changes by name, the largest 1.

        More than 20 of them are one, of all estimates that can move; its changes are NaN.
        """
        return [
            dict(zip(u["names"], map(float, u["weights"] or [np.nan] * len(u["names"]))))
            for u in self._head["unidentified"]
        ]

    @property
    def rows(self) -> int:
        """How many values were compared; 0 where the objective is not one of data."""
        return int(self._head["rows"])

    @property
    def nll(self) -> float:
        """The negative log likelihood of the data; NaN where the objective is not one of data."""
        return float(self._head["nll"])

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return float(self._head["aic"])

    @property
    def bic(self) -> float:
        """The Bayesian criterion."""
        return float(self._head["bic"])

    @property
    def factor(self) -> float:
        """The common factor of standard deviations where scatter is estimated; NaN without values beyond the estimates.

        It is 1 where scatter is known.
        """
        return float(self._head["factor"])

    @property
    def constraints(self) -> dict[str, float]:
        """Values of the constraints by name."""
        return {c["name"]: float(c["value"]) for c in self._head["constraints"]}

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings and notes of the fit."""
        return [diagnostic(d) for d in self._head["warnings"]]

    @property
    def settings(self) -> dict[str, Any]:
        """What was used: algorithm, starts, seed, intervals, level, scatter, and "run", the settings of runs."""
        return dict(self._head["settings"])

    @property
    def stats(self) -> dict[str, Any]:
        """What the fit took: evaluations, failures, seconds."""
        return dict(self._head["stats"])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: a row for each estimated number."""
        import pandas as pd

        parts = {"value": "estimates", "stderr": "stderr", "lower": "lower", "upper": "upper"}
        index = pd.Index(self.names, name="estimate")
        table = pd.DataFrame({k: self._arrays[a] for k, a in parts.items()}, index=index)
        table["unit"] = [v.unit for v in self.variables for _ in range(v.size)]
        return table

    def plot(self, ax: Any = None) -> Any:
        """The data and what the model says, on matplotlib axes, which are returned."""
        return self.predictions.plot(ax)

    def __repr__(self) -> str:
        return f"<Fit of {', '.join(self)}: {self.objective} = {self.value:.8g}, {self.status}>"

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        a = self._arrays
        rows = []
        units = [v.unit for v in self.variables for _ in range(v.size)]
        for i, name in enumerate(self.names):
            numbers = (f"{a[p][i]:.6g}" for p in ("estimates", "stderr", "lower", "upper"))
            rows.append([name, *numbers, units[i]])
        level = f"{100 * self._head['settings']['level']:g} %"
        return ["", "estimate", "standard error", f"from ({level})", "to", "unit"], rows

    def __str__(self) -> str:
        return f"{self.objective} = {self.value:.8g} ({self.status})\n{text_table(*self._rows())}"

    def _repr_html_(self) -> str:
        head = f"<p>{html.escape(self.objective)} = {self.value:.8g} ({html.escape(self.status)})</p>"
        heads, rows = self._rows()
        return head + _table(heads, [[html.escape(c) for c in r] for r in rows])
