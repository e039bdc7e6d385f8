"""A model as a function of a vector, which is what optimizers and samplers want."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, Union

import numpy as np
import numpy.typing as npt

from ._model import Model, Settings
from ._results import Array, Sensitivities

Fixed = Optional[dict[str, npt.ArrayLike]]


class Flat:
    """Objectives [m] as a function of the elements [n] of some params and initial values, laid side by side."""

    def __init__(
        self,
        model: Model,
        of: Union[str, Sequence[str]],
        wrt: Union[str, Sequence[str]],
        fixed: Fixed = None,
        settings: Optional[Settings] = None,
        trust: Optional[bool] = None,
    ) -> None:
        self.model = model
        self.of = [of] if isinstance(of, str) else list(of)
        self.wrt = [wrt] if isinstance(wrt, str) else list(wrt)
        self.fixed, self.settings, self.trust = dict(fixed or {}), settings, trust
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

    def sens(self, x: npt.ArrayLike) -> Sensitivities:
        """Values and gradients at x [n]."""
        set_ = {**self.fixed, **self.split(x)}
        return self.model.sens(of=self.of, wrt=self.wrt, set=set_, settings=self.settings, trust=self.trust)

    def values(self, x: npt.ArrayLike) -> Array:
        """Values [m] at x [n], without derivatives."""
        set_ = {**self.fixed, **self.split(x)}
        return self.model.sens(of=self.of, wrt=(), set=set_, settings=self.settings, trust=self.trust).values

    def hessians(self, x: npt.ArrayLike) -> Array:
        """Second derivatives [m, n, n] at x [n]."""
        set_ = {**self.fixed, **self.split(x)}
        s = self.model.hessian(of=self.of, wrt=self.wrt, set=set_, settings=self.settings, trust=self.trust)
        return s._arrays["hessian"]

    @property
    def rows(self) -> int:
        """m."""
        if self._rows is None:
            x = self.x0
            if np.isnan(x).any():
                raise ValueError("give values of initial(…) in fixed, so that there is a first point")
            self._rows = len(self.values(x))
        return self._rows
