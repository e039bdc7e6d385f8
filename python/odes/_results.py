"""Results: numbers with their names, units and grades of trust."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from ._errors import GRADES, Diagnostic, Trust, diagnostic

Array = npt.NDArray[np.float64]
Number = Union[float, Array]


def _number(a: Array) -> Number:
    return float(a[()]) if a.ndim == 0 else a


def _worst(grades: Optional[Array]) -> Trust:
    return Trust.SOUND if grades is None or grades.size == 0 else GRADES[int(grades.max())]


@dataclass(frozen=True)
class Variable:
    """What is differentiated by: a param ("k"), or the initial value of a state ("initial(x)")."""

    name: str
    unit: str  #: "" when unknown or dimensionless
    shape: tuple[int, ...]
    offset: int  #: column of its first element in a row of the gradient

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def columns(self) -> slice:
        """Its columns in a row of the gradient."""
        return slice(self.offset, self.offset + self.size)

    @property
    def elements(self) -> list[str]:
        """Names of the elements, row-major: ["A[1,1]", "A[1,2]", …]."""
        return elements(self.name, self.shape)


def elements(name: str, shape: Sequence[int]) -> list[str]:
    """Names of the elements of an array, counted from 1 as models do; [name] for a scalar."""
    if not shape:
        return [name]
    inner, close = (name, "]") if not name.endswith(")") else (name[:-1], "])")
    return [f"{inner}[{','.join(str(i + 1) for i in at)}{close}" for at in np.ndindex(*shape)]


@dataclass(frozen=True)
class Event:
    """An event, or a change of mode, that happened."""

    name: str
    kind: str  #: "event", "if" for a change of mode, or "control" for an end of a piece
    index: Optional[tuple[int, ...]]  #: of the element of an array event, from 1
    t: float
    trust: Trust  #: of t
    d: Optional[Mapping[str, Number]] = None  #: derivatives of t by the variables, if event_times asked for them
    left: Optional[Mapping[str, Number]] = None  #: those of d on the left; NaN where the event does not come there
    right: Optional[Mapping[str, Number]] = None  #: and on the right


@dataclass(frozen=True)
class Layout:
    """What the rows and columns of a gradient are. Results of one request share it."""

    names: list[str]
    units: list[str]
    docs: list[str]
    relations: list[str]
    variables: list[Variable]
    columns: int
    rows: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=dict)
    """By name of an objective: its rows and its shape. Elements of arrays are objectives as well."""
    keys: list[str] = field(default_factory=list)  #: the objectives as the model declares them

    @staticmethod
    def of(head: dict[str, Any]) -> Layout:
        o = head["objectives"]
        variables = [
            Variable(v["name"], v["unit"], tuple(v["shape"]), v["offset"]) for v in head["variables"]
        ]
        self = Layout(
            [x["name"] for x in o],
            [x["unit"] for x in o],
            [x.get("doc", "") for x in o],
            [x.get("relation", "") for x in o],
            variables,
            head.get("columns", 0),
        )
        groups: dict[str, list[int]] = {}
        for row, name in enumerate(self.names):
            groups.setdefault(name.partition("[")[0], []).append(row)
        for key, rows in groups.items():
            self.keys.append(key)
            if self.names[rows[0]] == key:
                self.rows[key] = (rows[0],), ()
                continue
            indices = [tuple(map(int, self.names[r][len(key) + 1 : -1].split(","))) for r in rows]
            shape = tuple(max(axis) for axis in zip(*indices))
            if np.prod(shape, dtype=int) != len(rows):  # some elements of it
                shape = (len(rows),)
            self.rows[key] = tuple(rows), shape
            for r in rows:
                self.rows[self.names[r]] = (r,), ()
        return self


class _ByVariable(Mapping[str, Number]):
    """A mapping from variables to parts of rows of a matrix over the columns of a gradient."""

    __slots__ = ("_matrix", "_shape", "_variables")

    def __init__(self, matrix: Array, shape: tuple[int, ...], variables: list[Variable]) -> None:
        self._matrix, self._shape, self._variables = matrix, shape, variables

    def __getitem__(self, name: str) -> Number:
        for v in self._variables:
            if v.name == name:
                return _number(self._matrix[:, v.columns].reshape(self._shape + v.shape))
        raise KeyError(f"{name!r} is not among the variables: {', '.join(v.name for v in self._variables)}")

    def __iter__(self) -> Iterator[str]:
        return (v.name for v in self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return repr(dict(self))


class _Trusts(Mapping[str, Trust]):
    __slots__ = ("_grades", "_variables")

    def __init__(self, grades: Optional[Array], variables: list[Variable]) -> None:
        self._grades, self._variables = grades, variables

    def __getitem__(self, name: str) -> Trust:
        for v in self._variables:
            if v.name == name:
                return _worst(None if self._grades is None else self._grades[:, v.columns])
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (v.name for v in self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return repr({k: str(v) for k, v in self.items()})


class _ByPair(Mapping[tuple[str, str], Number]):
    __slots__ = ("_matrix", "_shape", "_variables")

    def __init__(self, matrix: Array, shape: tuple[int, ...], variables: list[Variable]) -> None:
        self._matrix, self._shape, self._variables = matrix, shape, variables

    def __getitem__(self, names: tuple[str, str]) -> Number:
        v, w = (next((x for x in self._variables if x.name == name), None) for name in names)
        if v is None or w is None:
            raise KeyError(names)
        return _number(self._matrix[:, v.columns, w.columns].reshape(self._shape + v.shape + w.shape))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((v.name, w.name) for v in self._variables for w in self._variables)

    def __len__(self) -> int:
        return len(self._variables) ** 2


@dataclass(frozen=True)
class Piece:
    """An order that a move may give the causes of a coincidence, and the derivatives of a run in which it holds."""

    order: tuple[str, ...]
    gradient: Array  #: laid out like Sensitivities.gradient


@dataclass(frozen=True)
class Coincidence:
    """A time at which several causes come."""

    t: float
    causes: tuple[str, ...]  #: in the words of the model
    leap: bool  #: whether some value leaps there
    pieces: tuple[Piece, ...] = ()  #: as far as they are known


class Objective:
    """An objective of a result: a scalar, or an array of any shape S."""

    __slots__ = ("_arrays", "_layout", "_remarks", "_rows", "_shape", "name")

    def __init__(self, name: str, layout: Layout, arrays: dict[str, Array], remarks: Mapping[str, list[str]]) -> None:
        self.name = name
        self._layout, self._arrays, self._remarks = layout, arrays, remarks
        rows, self._shape = layout.rows[name]
        self._rows: Union[slice, list[int]] = list(rows)
        if rows[-1] - rows[0] == len(rows) - 1:
            self._rows = slice(rows[0], rows[-1] + 1)  # a view, not a copy

    def _row(self) -> int:
        return self._rows.start if isinstance(self._rows, slice) else self._rows[0]

    @property
    def unit(self) -> str:
        """Its unit; "" when unknown or dimensionless."""
        return self._layout.units[self._row()]

    @property
    def doc(self) -> str:
        """What the model says of it."""
        return self._layout.docs[self._row()]

    @property
    def relation(self) -> str:
        """"==", "<=" or ">=" of a constraint, else ""."""
        return self._layout.relations[self._row()]

    @property
    def value(self) -> Number:
        """Its value, a float or an array [S]. NaN where it did not come about."""
        return _number(self._arrays["values"][self._rows].reshape(self._shape))

    def _part(self, name: str) -> Array:
        if name not in self._arrays:
            raise AttributeError(f"this result has no {name}")
        return self._arrays[name][self._rows]

    @property
    def d(self) -> Mapping[str, Number]:
        """Derivatives by each variable: a float, or an array [S + shape of the variable].

        They are in the unit of the objective by that of the variable, and exact for the computed solution.
        """
        return _ByVariable(self._part("gradient"), self._shape, self._layout.variables)

    @property
    def gradient(self) -> Array:
        """All derivatives, [S + (columns,)]: see Variable.columns."""
        return self._part("gradient").reshape((*self._shape, -1))

    @property
    def d2(self) -> Mapping[tuple[str, str], Number]:
        """Second derivatives by pairs of variables, [S + shape + shape], of Model.hessian."""
        return _ByPair(self._part("hessian"), self._shape, self._layout.variables)

    @property
    def hessian(self) -> Array:
        """All second derivatives, [S + (columns, columns)], of Model.hessian."""
        c = self._layout.columns
        return self._part("hessian").reshape((*self._shape, c, c))

    @property
    def product(self) -> Array:
        """The Hessian times the direction, [S + (columns,)], of Model.hvp."""
        return self._part("products").reshape((*self._shape, -1))

    @property
    def trust(self) -> Trust:
        """The worst grade of the value and of all its derivatives."""
        worst = self.value_trust
        for name in ("trusts", "hessian_trusts", "product_trusts"):
            if name in self._arrays:
                worst = max(worst, _worst(self._arrays[name][self._rows]))
        return worst

    @property
    def value_trust(self) -> Trust:
        """The grade of the value."""
        return _worst(self._arrays["value_trusts"][self._rows])

    @property
    def d_trust(self) -> Mapping[str, Trust]:
        """The grades of the derivatives; of an array, the worst one."""
        trusts = self._arrays.get("trusts")
        return _Trusts(None if trusts is None else trusts[self._rows], self._layout.variables)

    @property
    def left(self) -> Mapping[str, Number]:
        """Derivatives on the left of the values that variables have, shaped like d: those of d where both sides agree.

        NaN where the value leaps: see leaps.
        """
        return _ByVariable(self._part("left" if "left" in self._arrays else "gradient"), self._shape,
                           self._layout.variables)

    @property
    def right(self) -> Mapping[str, Number]:
        """Derivatives on the right of the values that variables have, shaped like d."""
        return _ByVariable(self._part("right" if "right" in self._arrays else "gradient"), self._shape,
                           self._layout.variables)

    @property
    def along(self) -> tuple[Number, Number] | None:
        """Derivatives along the direction of Model.hvp on its left and right, [S]; None where they are the same."""
        if "left_along" not in self._arrays:
            return None
        left, right = self._arrays["left_along"][self._rows], self._arrays["right_along"][self._rows]
        return _number(left.reshape(self._shape)), _number(right.reshape(self._shape))

    @property
    def leaps(self) -> dict[tuple[str, str], tuple[float, float]]:
        """By what it leaps: {(element of the objective, element of a variable): (value on the left, on the right)}."""
        if "values_left" not in self._arrays:
            return {}
        columns = [name for v in self._layout.variables for name in v.elements]
        left, right = self._part("values_left"), self._part("values_right")
        names = elements(self.name, self._shape)
        return {
            (names[i], columns[k]): (float(left[i, k]), float(right[i, k]))
            for i, k in np.argwhere(~np.isnan(left) | ~np.isnan(right))
        }

    @property
    def error(self) -> Number:
        """Estimated error of the value, [S]; 0 where no independent run was made."""
        return _number(self._arrays["value_errors"][self._rows].reshape(self._shape))

    @property
    def d_error(self) -> Mapping[str, Number]:
        """Estimated errors of the derivatives, shaped like d. AttributeError where no independent run was made."""
        return _ByVariable(self._part("errors"), self._shape, self._layout.variables)

    @property
    def d2_error(self) -> Mapping[tuple[str, str], Number]:
        """Estimated errors of second derivatives, shaped like d2."""
        return _ByPair(self._part("hessian_errors"), self._shape, self._layout.variables)

    @property
    def product_error(self) -> Array:
        """Estimated errors of the product, shaped like it."""
        return self._part("product_errors").reshape((*self._shape, -1))

    @property
    def remarks(self) -> list[str]:
        """What there is to say of its value, such as why there is none."""
        names = elements(self.name, self._shape)
        return [text for name in names for text in self._remarks.get(name, ())]

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        mark = "" if self.trust == Trust.SOUND else f" ({self.trust})"
        return f"{self.name} = {self.value}{unit}{mark}"


class _Result:
    """What all results have."""

    def __init__(self, head: dict[str, Any], arrays: dict[str, Array], layout: Layout) -> None:
        self._head, self._arrays, self._layout = head, arrays, layout

    @property
    def status(self) -> str:
        """ "ok", or "partial" where some objective has no value or some number is lost."""
        return str(self._head["status"])

    @property
    def span(self) -> tuple[float, float]:
        """Where the run began and ended, in the model's unit of time."""
        a = self._arrays["span"]
        return float(a[0]), float(a[1])

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings and notes of the run."""
        return [diagnostic(d) for d in self._head["warnings"]]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that the run used: method, rtol, atol, mode, …"""
        return dict(self._head["settings"])

    @property
    def stats(self) -> dict[str, Any]:
        """What the run took: steps, evaluations, seconds, …"""
        return dict(self._head["stats"])

    @property
    def events(self) -> list[Event]:
        """What happened, in the order of time."""
        times, rows = self._arrays["event_times"], self._arrays.get("event_derivatives")
        sides = rows, self._arrays.get("event_left", rows), self._arrays.get("event_right", rows)
        out = []
        for i, e in enumerate(self._head["events"]):
            d = [None if r is None else _ByVariable(r[i : i + 1], (), self._layout.variables) for r in sides]
            index = tuple(e["index"]) if e.get("index") else None
            out.append(Event(e["name"], e["kind"], index, float(times[i]), Trust(e.get("trust", "sound")), *d))
        return out

    def _objective(self, name: str) -> Objective:
        if name not in self._layout.rows:
            raise KeyError(f"{name!r} is not among the objectives: {', '.join(self._layout.keys)}")
        return Objective(name, self._layout, self._arrays, self._head.get("remarks") or {})


class Sensitivities(_Result, Mapping[str, Objective]):
    """Objectives and their derivatives: ``s["J"].value``, ``s["J"].d["k"]``.

    A mapping from the names of the objectives, in the order of the model. Elements of arrays ("y[3]") are found as
    well.
    """

    def __init__(self, head: dict[str, Any], arrays: dict[str, Array], layout: Layout) -> None:
        super().__init__(head, arrays, layout)
        if "gradient" not in arrays:
            arrays["gradient"] = np.empty((len(layout.names), layout.columns))
        if np.isnan(arrays["values"]).any():  # what has no value has no derivatives
            arrays["gradient"][np.isnan(arrays["values"])] = np.nan

    def __getitem__(self, name: str) -> Objective:
        return self._objective(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.keys)

    def __len__(self) -> int:
        return len(self._layout.keys)

    @property
    def names(self) -> list[str]:
        """Names of the rows of the gradient: the elements of the objectives."""
        return list(self._layout.names)

    @property
    def variables(self) -> list[Variable]:
        """What the objectives are differentiated by, in the order of the columns."""
        return list(self._layout.variables)

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the gradient: the elements of the variables."""
        return [name for v in self._layout.variables for name in v.elements]

    @property
    def values(self) -> Array:  # type: ignore[override]
        """Values of all objectives, [len(names)]. (For those of the mapping: ``[s[k] for k in s]``.)"""
        return self._arrays["values"]

    @property
    def gradient(self) -> Array:
        """All derivatives, [len(names), len(columns)]."""
        return self._arrays["gradient"]

    @property
    def coincidences(self) -> list[Coincidence]:
        """Where several causes come at one time, so that derivatives are others on the other side, or values leap."""
        gradients = iter(self._arrays.get("pieces", ()))
        return [
            Coincidence(c["t"], tuple(c["causes"]), c["leap"],
                        tuple(Piece(tuple(o), next(gradients)) for o in c.get("orders", ())))
            for c in self._head.get("coincidences", ())
        ]

    @property
    def trust(self) -> Trust:
        """The worst grade of all numbers."""
        return max((self[k].trust for k in self), default=Trust.SOUND)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: a row for each element of an objective, a column "value" and one for each derivative."""
        import pandas as pd

        table = pd.DataFrame(self.gradient, index=pd.Index(self.names, name="objective"), columns=self.columns)
        table.insert(0, "value", self.values)
        return table

    def to_xarray(self) -> Any:
        """An xarray.Dataset with "value" [objective] and "gradient" [objective, variable]."""
        import xarray as xr

        return xr.Dataset(
            {"value": ("objective", self.values), "gradient": (("objective", "variable"), self.gradient)},
            coords={"objective": self.names, "variable": self.columns},
        )

    def plot(self, ax: Any = None) -> Any:
        """Bars of the derivatives, one group for each objective, on matplotlib axes, which are returned."""
        ax = ax or _axes()
        at = np.arange(len(self.columns))
        width = 0.8 / max(1, len(self.names))
        for i, name in enumerate(self.names):
            ax.bar(at + i * width, self.gradient[i], width, label=name)
        ax.set_xticks(at + 0.4 - width / 2, self.columns)
        ax.set_ylabel("derivative")
        ax.legend()
        return ax

    def __repr__(self) -> str:
        return f"<Sensitivities of {', '.join(self)} by {', '.join(v.name for v in self._layout.variables)}>"

    def _rows(self, marked: Callable[[Any, Any], str]) -> tuple[list[str], list[list[str]]]:
        heads = ["", *(f"{n} [{u}]" if u else n for n, u in zip(self.names, self._layout.units))]
        grades, value_grades = self._arrays.get("trusts"), self._arrays["value_trusts"]
        rows = [["value", *(marked(x, value_grades[i]) for i, x in enumerate(self.values))]]
        for k, name in enumerate(self.columns[:_MOST]):
            its = np.zeros(len(self.names)) if grades is None else grades[:, k]
            cells = (marked(x, grade) for x, grade in zip(self.gradient[:, k], its))
            rows.append([f"d/d {name}", *cells])
        if len(self.columns) > _MOST:
            rows.append([f"… {len(self.columns) - _MOST} more"])
        return heads, rows

    def __str__(self) -> str:
        heads, rows = self._rows(lambda x, grade: f"{float(x):.8g}{' ?!'[min(2, int(grade or 0))].strip()}")
        return text_table(heads, rows)

    def _repr_html_(self) -> str:
        heads, rows = self._rows(_marked)
        return _table(heads, [[html.escape(r[0]), *r[1:]] for r in rows])


_MOST = 40  # rows of a table in a notebook


def _marked(x: Any, grade: Any) -> str:
    text = f"{float(x):.8g}"
    return text if not grade else f'<span title="{GRADES[int(grade)]}">{text} {"?" * int(grade)}</span>'


_NUMBER = re.compile(r"[-+]?(\d|nan|inf)")


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for people: texts to the left, numbers to the right."""
    lines = [list(heads), *([*r, *[""] * (len(heads) - len(r))] for r in rows)]
    columns = []
    for k in range(len(heads)):
        cells = [line[k] for line in lines]
        width = max(map(len, cells))
        right = k > 0 and all(c == "" or _NUMBER.match(c) for c in cells[1:]) and any(cells[1:])
        columns.append([c.rjust(width) if right else c.ljust(width) for c in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{html.escape(h)}</th>" for h in heads)
    body = "".join(
        "<tr>" + f"<th>{r[0]}</th>" + "".join(f"<td>{c}</td>" for c in r[1:]) + "</tr>" for r in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _axes() -> Any:
    import matplotlib.pyplot as plt

    return plt.gca()


@dataclass(frozen=True)
class Output:
    """An output over time."""

    name: str
    doc: str
    unit: str  #: "" when unknown or dimensionless
    value: Array  #: [len(t)] + its shape
    trust: Trust  #: the worst grade of the values

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        return np.array(self.value, dtype=dtype, copy=True) if copy or dtype else self.value


class Run(_Result, Mapping[str, Output]):
    """Outputs over time: ``r.t``, ``r["x"].value``. A mapping from the names of the outputs."""

    def __init__(
        self, head: dict[str, Any], arrays: dict[str, Array], outputs: list[Array], layout: Layout, time: str, unit: str
    ) -> None:
        super().__init__(head, arrays, layout)
        self.time = time  #: name of the time
        self.time_unit = unit  #: "" when unknown or dimensionless
        self._outputs = {
            o["name"]: Output(o["name"], o.get("doc", ""), o["unit"], a, Trust(o["trust"]))
            for o, a in zip(head.get("outputs") or (), outputs)
        }

    @property
    def t(self) -> Array:
        """Times, ascending. At an event both limits appear, so that a time may stand twice."""
        return self._arrays["t"]

    @property
    def objectives(self) -> dict[str, Objective]:
        """The objectives by name; they have values and no derivatives."""
        return {name: self._objective(name) for name in self._layout.keys}

    @overload
    def __getitem__(self, name: str) -> Output: ...
    @overload
    def __getitem__(self, name: Any) -> Output: ...
    def __getitem__(self, name: Any) -> Output:
        if name not in self._outputs:
            raise KeyError(f"{name!r} is not among the outputs: {', '.join(self._outputs)}")
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: a row for each time, a column for each element of an output."""
        import pandas as pd

        columns = {}
        for o in self._outputs.values():
            flat = o.value.reshape(len(self.t), -1)
            for k, name in enumerate(elements(o.name, o.value.shape[1:])):
                columns[name] = flat[:, k]
        return pd.DataFrame(columns, index=pd.Index(self.t, name=self.time))

    def to_xarray(self) -> Any:
        """An xarray.Dataset over time, with units as attributes."""
        import xarray as xr

        data = {}
        for o in self._outputs.values():
            dims = [self.time, *(f"{o.name}_{k + 1}" for k in range(o.value.ndim - 1))]
            data[o.name] = xr.Variable(dims, o.value, {"units": o.unit, "long_name": o.doc})
        return xr.Dataset(data, coords={self.time: (self.time, self.t, {"units": self.time_unit})})

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Lines of outputs (all by default) over time, on matplotlib axes, which are returned."""
        ax = ax or _axes()
        for name in names or self:
            o = self[name]
            lines = o.value.reshape(len(self.t), -1)
            labels = elements(name, o.value.shape[1:])
            for k in range(lines.shape[1]):
                ax.plot(self.t, lines[:, k], label=f"{labels[k]} [{o.unit}]" if o.unit else labels[k])
        ax.set_xlabel(f"{self.time} [{self.time_unit}]" if self.time_unit else self.time)
        ax.legend()
        return ax

    def __repr__(self) -> str:
        return f"<Run of {', '.join(self)} at {len(self.t)} times from {self.span[0]:g} to {self.span[1]:g}>"

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        heads = [f"{self.time} [{self.time_unit}]" if self.time_unit else self.time]
        columns = []
        for o in self._outputs.values():
            names = elements(o.name, o.value.shape[1:])
            heads += [f"{n} [{o.unit}]" if o.unit else n for n in names]
            columns += list(o.value.reshape(len(self.t), -1).T)
        columns, heads = columns[:_MOST], heads[: _MOST + 1]
        rows = [[f"{t:.8g}", *(f"{c[i]:.8g}" for c in columns)] for i, t in enumerate(self.t[:_MOST])]
        if len(self.t) > _MOST:
            rows.append([f"… {len(self.t) - _MOST} more"])
        return heads, rows

    def __str__(self) -> str:
        return text_table(*self._rows())

    def _repr_html_(self) -> str:
        return _table(*self._rows())
