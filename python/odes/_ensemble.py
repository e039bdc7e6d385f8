"""Results of ensembles and sweeps: one model for many sets of values."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._errors import Diagnostic, diagnostic
from ._results import Array, Layout, Number, _axes, _ByVariable, _table, elements, text_table


@dataclass(frozen=True)
class Failure:
    """Why a member has no numbers."""

    member: int  #: from 0
    code: str  #: a word for programs; ``odes doc <code>`` explains it
    message: str


@dataclass(frozen=True)
class Comparison:
    """What comparisons of members with independent runs found."""

    members: int  #: that were compared
    unconfirmed: list[Failure]  #: those whose numbers are not confirmed, and why; of more than 32 in all the first
    controlled: bool  #: whether derivatives of all members are under error control, as some needed it


@dataclass(frozen=True)
class MemberOutput:
    """An output over time, of every member."""

    name: str
    unit: str  #: "" when unknown or dimensionless
    value: Array  #: members + [len(t)] + its shape; NaN where a member failed


@dataclass(frozen=True)
class Indices:
    """Which values matter: arrays [objectives, axes, len(what)], with intervals of 95 % by resampling.

    ``what`` is ("first", "jansen", "total") of Sobol indices, ("mean", "size", "sd") of elementary effects,
    ("mean", "bound") of squared derivatives. docs/ensembles.md says what these are.
    """

    of: list[str]
    axes: list[str]
    what: list[str]
    value: Array
    low: Array
    high: Array
    left: int  #: groups of members that are left out, as one of them has no value

    def __getitem__(self, names: tuple[str, str]) -> dict[str, float]:
        """Of an objective and an axis: what is known by name."""
        of, axis = names
        return dict(zip(self.what, self.value[self.of.index(of), self.axes.index(axis)].tolist()))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: a row for each objective and axis."""
        import pandas as pd

        index = pd.MultiIndex.from_product([self.of, self.axes], names=["objective", "axis"])
        return pd.DataFrame(self.value.reshape(-1, len(self.what)), index=index, columns=self.what)


class MemberObjective:
    """An objective of every member. M is the shape of the members: (n,), or that of the grid of a sweep."""

    __slots__ = ("_arrays", "_layout", "_members", "_rows", "_shape", "name")

    def __init__(self, name: str, layout: Layout, arrays: dict[str, Array], members: tuple[int, ...]) -> None:
        self.name = name
        self._layout, self._arrays, self._members = layout, arrays, members
        rows, self._shape = layout.rows[name]
        self._rows = list(rows)

    @property
    def unit(self) -> str:
        """Its unit; "" when unknown or dimensionless."""
        return self._layout.units[self._rows[0]]

    @property
    def doc(self) -> str:
        """What the model says of it."""
        return self._layout.docs[self._rows[0]]

    @property
    def value(self) -> Array:
        """Its values, [M + its shape]; NaN where a member failed."""
        return self._arrays["value"][:, self._rows].reshape(self._members + self._shape)

    @property
    def d(self) -> Mapping[str, Number]:
        """Derivatives by each variable, [M + its shape + shape of the variable]."""
        if "gradient" not in self._arrays:
            raise AttributeError("this ensemble has no derivatives")
        g = self._arrays["gradient"][:, self._rows]
        return _ByVariable(g.reshape(-1, g.shape[-1]), self._members + self._shape, self._layout.variables)

    def __repr__(self) -> str:
        v = self.value
        return f"{self.name}: {np.nanmean(v):.6g} ± {np.nanstd(v):.3g} {self.unit}".rstrip()


class Ensemble(Mapping[str, MemberObjective]):
    """Members of an ensemble or a sweep: a mapping from objectives to their values in every member.

    ``e["J"].value`` has the shape of the members, which is (n,), or that of the grid of a sweep.
    """

    def __init__(
        self,
        head: dict[str, Any],
        arrays: dict[str, Array],
        grid: Optional[dict[str, Array]],
        shapes: Mapping[str, tuple[int, ...]],
        time: str,
        time_unit: str,
    ) -> None:
        self._head, self._arrays, self._grid = head, arrays, grid
        self._layout = Layout.of(head["layout"])
        self.time, self.time_unit = time, time_unit
        #: Shape of the members.
        self.shape: tuple[int, ...] = tuple(map(len, grid.values())) if grid else (int(head["members"]),)
        #: What differs, by name: [shape].
        self.params: dict[str, Array] = {
            c["name"]: arrays["param"][:, i].reshape(self.shape) for i, c in enumerate(head["params"])
        }
        #: Outputs at times, if they were asked for.
        self.outputs: dict[str, MemberOutput] = {}
        at, columns = 0, head["series"]
        while at < len(columns):
            name = columns[at]["name"].partition("[")[0]
            shape = shapes[name]
            size = int(np.prod(shape, dtype=int))
            value = arrays["series"][:, :, at : at + size].reshape(self.shape + (len(self.t),) + shape)
            self.outputs[name] = MemberOutput(name, columns[at]["unit"], value)
            at += size

    @property
    def t(self) -> Array:
        """Times of the outputs."""
        return self._arrays.get("t", np.empty(0))

    def __getitem__(self, name: str) -> MemberObjective:
        if name not in self._layout.rows:
            raise KeyError(f"{name!r} is not among the objectives: {', '.join(self._layout.keys)}")
        return MemberObjective(name, self._layout, self._arrays, self.shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.keys)

    def __len__(self) -> int:
        return len(self._layout.keys)

    @property
    def status(self) -> str:
        """ "ok", "failed" where no member has numbers, or "partial" where some lack them or are not confirmed."""
        return str(self._head["status"])

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Which members have all numbers, and are not known to be unconfirmed, [shape]."""
        out: npt.NDArray[np.bool_] = self._arrays["status"].reshape(self.shape) == 0
        return out

    @property
    def steps(self) -> Array:
        """Steps of every member, [shape]."""
        return self._arrays["steps"].reshape(self.shape)

    @property
    def failures(self) -> list[Failure]:
        """Why members have no numbers."""
        return [Failure(f["member"], f["code"], f["message"]) for f in self._head["failures"]]

    @property
    def compared(self) -> Comparison:
        """How many members were compared with independent runs, and what was found."""
        h = self._head["compared"]
        list_ = [Failure(f["member"], f["code"], f["message"]) for f in h["unconfirmed"]]
        return Comparison(h["members"], list_, h.get("controlled", False))

    @property
    def indices(self) -> Optional[Indices]:
        """Which values matter, if ``indices=`` asked for it."""
        h = self._head.get("indices")
        if h is None:
            return None
        a = self._arrays["indices"]
        return Indices(h["of"], h["axes"], h["what"], a[..., 0], a[..., 1], a[..., 2], h["left"])

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings and notes of all members."""
        return [diagnostic(d) for d in self._head.get("warnings", [])]

    def _columns(self) -> dict[str, Array]:
        out = {c["name"]: self._arrays["param"][:, i] for i, c in enumerate(self._head["params"])}
        names = self._layout.names
        out.update({name: self._arrays["value"][:, i] for i, name in enumerate(names) if "value" in self._arrays})
        if "gradient" in self._arrays:
            columns = [e for v in self._layout.variables for e in v.elements]
            for i, name in enumerate(names):
                for k, by in enumerate(columns):
                    out[f"d({name})/d({by})"] = self._arrays["gradient"][:, i, k]
        return out

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: a row for each member, with what differs, objectives and derivatives."""
        import pandas as pd

        return pd.DataFrame(self._columns(), index=pd.RangeIndex(len(self._arrays["status"]), name="member"))

    def to_xarray(self) -> Any:
        """An xarray.Dataset over "member", or over the axes of a sweep. Derivatives are named "d(J)/d(k)"."""
        import xarray as xr

        dims = list(self._grid) if self._grid else ["member"]
        units = dict(zip(self._layout.names, self._layout.units))
        data = {
            name: xr.Variable(dims, a.reshape(self.shape), {"units": units.get(name, "")})
            for name, a in self._columns().items()
            if not self._grid or name not in self._grid
        }
        for o in self.outputs.values():
            extra = [f"{o.name}_{k + 1}" for k in range(o.value.ndim - len(dims) - 1)]
            data[o.name] = xr.Variable([*dims, self.time, *extra], o.value, {"units": o.unit})
        coords: dict[str, Any] = dict(self._grid or {})
        if self.outputs:
            coords[self.time] = self.t
        return xr.Dataset(data, coords=coords)

    def plot(self, name: Optional[str] = None, ax: Any = None) -> Any:
        """A picture of an output or an objective (the first by default), on matplotlib axes, which are returned.

        An output shows where half and nine tenths of the members are; an objective its histogram, or for sweeps a
        line over one axis and a map over two.
        """
        ax = ax or _axes()
        name = name or next(iter(self.outputs or self))
        if name in self.outputs:
            o = self.outputs[name]
            rows = o.value.reshape((-1, len(self.t), int(np.prod(o.value.shape[len(self.shape) + 1 :], dtype=int))))
            for k, label in enumerate(elements(name, o.value.shape[len(self.shape) + 1 :])):
                q = np.nanquantile(rows[:, :, k], [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
                (line,) = ax.plot(self.t, q[2], label=f"{label} [{o.unit}]" if o.unit else label)
                for low, high in ((0, 4), (1, 3)):
                    ax.fill_between(self.t, q[low], q[high], color=line.get_color(), alpha=0.2, lw=0)
            ax.set_xlabel(f"{self.time} [{self.time_unit}]" if self.time_unit else self.time)
            ax.legend()
            return ax
        o2 = self[name]
        label = f"{name} [{o2.unit}]" if o2.unit else name
        axes = list(self._grid.items()) if self._grid else []
        if len(axes) == 1:
            ax.plot(axes[0][1], o2.value, label=label)
            ax.set_xlabel(axes[0][0])
            ax.set_ylabel(label)
        elif len(axes) == 2:
            mesh = ax.pcolormesh(axes[0][1], axes[1][1], o2.value.T, shading="nearest")
            ax.figure.colorbar(mesh, ax=ax, label=label)
            ax.set_xlabel(axes[0][0])
            ax.set_ylabel(axes[1][0])
        else:
            ax.hist(o2.value[self.ok].ravel(), bins="auto")
            ax.set_xlabel(label)
            ax.set_ylabel("members")
        return ax

    def __repr__(self) -> str:
        n = " × ".join(map(str, self.shape))
        return f"<Ensemble of {n} members over {', '.join(self.params)}: {self.status}>"

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        heads = ["", "mean", "sd", "least", "median", "largest"]
        rows = []
        for name, a in self._columns().items():
            a = a[np.isfinite(a)]
            numbers = (np.mean(a), np.std(a), np.min(a), np.median(a), np.max(a)) if a.size else ()
            rows.append([name, *(f"{x:.6g}" for x in numbers)])
        return heads, rows[:40]

    def __str__(self) -> str:
        return f"{repr(self)[1:-1]}\n{text_table(*self._rows())}"

    def _repr_html_(self) -> str:
        heads, rows = self._rows()
        rows = [[html.escape(r[0]), *r[1:]] for r in rows]
        return f"<p>{html.escape(repr(self)[1:-1])}</p>" + _table(heads, rows)
