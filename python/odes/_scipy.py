"""Objectives for scipy.optimize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from ._flat import EVERY, Fixed, Flat, TrustOf
from ._model import Model, Settings
from ._results import Array


class Objective:
    """What scipy.optimize minimizes; scipy_objective makes it.

    ``minimize(f, f.x0, jac=True, bounds=f.bounds)`` for one objective, and ``least_squares(f.residuals, f.x0,
    f.jacobian)`` for several. ``hess=f.hessian`` gives minimize exact second derivatives.
    """

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._last: Optional[tuple[bytes, Array, Array]] = None

    @property
    def x0(self) -> Array:
        """The values [n] of the variables in the text."""
        return self._flat.x0

    @property
    def bounds(self) -> list[tuple[Optional[float], Optional[float]]]:
        """Lower and upper bound of each element [n], as the text has them; None for none."""
        out: list[tuple[Optional[float], Optional[float]]] = []
        for name, part in zip(self._flat.wrt, self._flat.slices):
            s = self._flat.model.symbols.get(name)
            low, high = (-np.inf, np.inf) if s is None else (s.low, s.high)
            pair = (None if np.isinf(low) else low, None if np.isinf(high) else high)
            out += [pair] * (part.stop - part.start)
        return out

    def named(self, x: npt.ArrayLike) -> dict[str, Array]:
        """The values by name of a vector [n], such as a result's x."""
        return self._flat.split(x)

    def _at(self, x: npt.ArrayLike) -> tuple[Array, Array]:
        key = np.asarray(x, dtype=np.float64).tobytes()
        last = self._last
        if last is None or last[0] != key:
            s = self._flat.sens(x)
            last = self._last = key, s.values, s.gradient
        return last[1], last[2]

    def __call__(self, x: npt.ArrayLike) -> tuple[float, Array]:
        """Value and gradient [n] of the objective at x [n]."""
        values, gradient = self._at(x)
        if len(values) != 1:
            raise ValueError(f"minimize takes one objective, and there are {len(values)}; use residuals and jacobian")
        return float(values[0]), gradient[0].copy()

    def residuals(self, x: npt.ArrayLike) -> Array:
        """Values [m] of the objectives at x [n]."""
        return self._at(x)[0].copy()

    def jacobian(self, x: npt.ArrayLike, *_: Any) -> Array:
        """Gradients [m, n] of the objectives at x [n]. They come with the residuals, at no further cost."""
        return self._at(x)[1].copy()

    def hessian(self, x: npt.ArrayLike) -> Array:
        """Hessian [n, n] of the objective at x [n]."""
        out: Array = self._flat.hessians(x)[0].copy()
        return out


def scipy_objective(
    model: Model,
    of: Union[str, Sequence[str], None] = None,
    wrt: Union[str, Sequence[str], None] = None,
    *,
    fixed: Fixed = None,
    settings: Optional[Settings] = None,
    trust: TrustOf = EVERY,
) -> Objective:
    """An objective for ``scipy.optimize.minimize`` and ``least_squares``.

    Args:
        model: the model.
        of: the objective to minimize, or several residuals; all objectives of the model unless given.
        wrt: what to change: params, and initial values ("initial(x)"); all params unless given.
        fixed: values of what is not changed, and the first values of what is.
        settings: as for Model.sens.
        trust: which calls are compared with an independent run: "on", "off", or the first and every n-th of gradients
            and of Hessians. What it does not confirm is a TrustWarning with the values of wrt. The end point of an
            optimization is worth a look with Model.sens.
    """
    of = list(model.objectives) if of is None else of
    wrt = list(model.params) if wrt is None else wrt
    return Objective(Flat(model, of, wrt, fixed, settings, trust))
