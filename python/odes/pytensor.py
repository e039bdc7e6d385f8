"""Objectives of models as Ops of PyTensor, for PyMC.

    >>> from odes.pytensor import pytensor_op
    >>> f = pytensor_op(odes.Model("model.ode"), of="J", wrt=["k", "g"])
    >>> with pymc.Model():
    ...     x = pymc.LogNormal("x", shape=2)
    ...     pymc.Potential("likelihood", -f(x))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional, Union

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from ._flat import EVERY, Fixed, Flat, TrustOf
from ._model import Model, Settings

__all__ = ["pytensor_op"]


class _Gradient(Op):  # type: ignore[misc]
    """Gradients [m, n] at x [n]."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat

    def make_node(self, x: Any) -> Any:
        return Apply(self, [pt.as_tensor_variable(x)], [pt.dmatrix()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = self.flat.sens(inputs[0]).gradient.copy()


class _Value(Op):  # type: ignore[misc]
    """Values [m] at x [n]."""

    def __init__(self, flat: Flat) -> None:
        self.flat, self.gradient = flat, _Gradient(flat)

    def make_node(self, x: Any) -> Any:
        return Apply(self, [pt.as_tensor_variable(x)], [pt.dvector()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = np.array(self.flat.values(inputs[0]))

    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
        return [(self.flat.rows,)]

    # The names of these in PyTensor before and after version 3.
    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        return [output_gradients[0] @ self.gradient(inputs[0])]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return self.grad(inputs, cotangents)

    def R_op(self, inputs: Any, eval_points: Any) -> Any:  # noqa: N802
        return [None if eval_points[0] is None else self.gradient(inputs[0]) @ eval_points[0]]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Any:
        return self.R_op(inputs, tangents)


def pytensor_op(
    model: Model,
    of: Union[str, Sequence[str]],
    wrt: Union[str, Sequence[str]],
    *,
    fixed: Fixed = None,
    settings: Optional[Settings] = None,
    trust: TrustOf = EVERY,
) -> Callable[[Any], Any]:
    """A function of a symbolic vector [n]: the elements of the variables, laid side by side.

    It returns a symbolic scalar for one objective given by its name, and a vector [m] for a list of objectives, with
    gradients. Arguments are those of odes.jax.jax_function.
    """
    scalar = isinstance(of, str)
    flat = Flat(model, of, wrt, fixed, settings, trust)
    if scalar and flat.rows != 1:
        raise ValueError(f"{of} has {flat.rows} elements; write of=[{of!r}] for a function with a vector")
    op = _Value(flat)

    def f(x: Any) -> Any:
        y = op(x)
        return y[0] if scalar else y

    return f
