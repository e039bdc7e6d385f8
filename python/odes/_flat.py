"""A model as a function of a vector, which is what optimizers and samplers want."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from ._batch import each
from ._model import Model, Settings
from ._results import Array, Sensitivities

Fixed = Optional[dict[str, npt.ArrayLike]]

#: Which calls are compared with independent runs: all ("on" or True), none ("off" or False), or the first and every
#: n-th of each kind; None is as if nothing were said.
TrustOf = Union[bool, int, str, None]

#: n, unless something else is asked for.
EVERY = 1000


class Flat:
    """Objectives [m] as a function of the elements [n] of some params and initial values, laid side by side."""

    def __init__(
        self,
        model: Model,
        of: Union[str, Sequence[str]],
        wrt: Union[str, Sequence[str]],
        fixed: Fixed = None,
        settings: Optional[Settings] = None,
        trust: TrustOf = EVERY,
    ) -> None:
        self.model = model
        self.of = [of] if isinstance(of, str) else list(of)
        self.wrt = [wrt] if isinstance(wrt, str) else list(wrt)
        self.fixed, self.settings = dict(fixed or {}), settings
        self.every = _every(trust)
        self._lock = threading.Lock()
        self._calls: dict[str, int] = {}
        self._control: dict[str, str] = {}  # what a comparison showed that derivatives need
        self.shapes: list[tuple[int, ...]] = []
        self.slices: list[slice] = []
        at = 0
        for name in self.wrt:
            inner = name[len("initial(") : -1] if name.startswith("initial(") else name
            symbol = model.symbols.get(inner)
            if symbol is None:  # the process says what is wrong with it
                model.sens(of=self.of, wrt=self.wrt, set=self.fixed)
                raise KeyError(name)
            size = int(np.prod(symbol.shape, dtype=int))
            self.shapes.append(symbol.shape)
            self.slices.append(slice(at, at + size))
            at += size
        self.size = at  #: n
        self._rows: Optional[int] = None

    @property
    def x0(self) -> Array:
        """The values [n] that the text gives to params. Initial values have to be in ``fixed``, else they are NaN."""
        out = np.full(self.size, np.nan)
        for name, part in zip(self.wrt, self.slices):
            symbol = self.model.symbols.get(name)
            if name in self.fixed:
                out[part] = np.ravel(self.fixed[name])
            elif symbol is not None and symbol.value is not None:
                out[part] = np.ravel(symbol.value)
        return out

    def split(self, x: npt.ArrayLike) -> dict[str, Array]:
        """The values by name of a vector [n]."""
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.size,):
            raise ValueError(f"there are {self.size} elements ({', '.join(self.wrt)}), not {x.shape}")
        return {n: x[part].reshape(shape) for n, part, shape in zip(self.wrt, self.slices, self.shapes)}

    def each(self, kind: str, points: Sequence[npt.ArrayLike]) -> list[Any]:
        """What a kind of result is at points [n], all at once: "values", "sens" or "hessians"."""
        with self._lock:
            first = self._calls.get(kind, 0)
            self._calls[kind] = first + len(points)
        numbered = [(self.every > 0 and (first + i) % self.every == 0, x) for i, x in enumerate(points)]
        todo = each(lambda p: self._compute(kind, *p), numbered[:1])  # it may show what the others need
        return todo + each(lambda p: self._compute(kind, *p), numbered[1:])

    def _compute(self, kind: str, compare: bool, x: npt.ArrayLike) -> Any:
        parts = self.split(x)
        at = " (at " + ", ".join(f"{name} = {_short(v)}" for name, v in parts.items()) + ")"
        settings = {**self._control, **(self.settings or {})}
        wrt: Sequence[str] = () if kind == "values" else self.wrt
        more = {"sens.order": 2} if kind == "hessians" else {}
        set_ = {**self.fixed, **parts}
        s = self.model._sens(self.of, wrt, set_, settings, compare, False, None, {}, None, more, at)
        if compare and any(d.code == "trust" and d.level == "note" and "control = on" in d.message for d in s.warnings):
            self._control = {"sens.control": "on"}
        if kind == "sens":
            return s
        return s.values if kind == "values" else s._arrays["hessian"]

    def sens(self, x: npt.ArrayLike) -> Sensitivities:
        """Values and gradients at x [n]."""
        out: Sensitivities = self.each("sens", [x])[0]
        return out

    def values(self, x: npt.ArrayLike) -> Array:
        """Values [m] at x [n], without derivatives."""
        out: Array = self.each("values", [x])[0]
        return out

    def hessians(self, x: npt.ArrayLike) -> Array:
        """Second derivatives [m, n, n] at x [n]."""
        out: Array = self.each("hessians", [x])[0]
        return out

    @property
    def rows(self) -> int:
        """m."""
        if self._rows is None:
            x = self.x0
            if np.isnan(x).any():
                raise ValueError("give values of initial(…) in fixed, so that there is a first point")
            self._rows = len(self._compute("values", False, x))
        return self._rows


def _every(trust: TrustOf) -> int:
    """How many calls there are from one that is compared to the next; 0 where none is."""
    if trust is None:
        return EVERY
    if trust in ("on", "off"):
        trust = trust == "on"
    if isinstance(trust, str) or trust < 0:
        raise ValueError(f'trust is "on" (or True), "off" (or False) or a number of calls, not {trust!r}')
    return int(trust)


def _short(value: Array) -> str:
    """A value as a warning says it."""
    if value.ndim == 0:
        return f"{float(value):.17g}"
    return np.array2string(value, precision=17, separator=", ", threshold=20)
