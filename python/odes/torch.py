"""Objectives of models as functions of PyTorch.

    >>> from odes.torch import torch_function
    >>> f = torch_function(odes.Model("model.ode"), of="J", wrt=["k", "g"])
    >>> f(x).backward()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional, Union

import numpy as np
import torch

from ._flat import EVERY, Fixed, Flat, TrustOf
from ._model import Model, Settings

__all__ = ["torch_function"]


def torch_function(
    model: Model,
    of: Union[str, Sequence[str]],
    wrt: Union[str, Sequence[str]],
    *,
    fixed: Fixed = None,
    settings: Optional[Settings] = None,
    trust: TrustOf = EVERY,
) -> Callable[[Any], Any]:
    """A function of a tensor [..., n]: the elements of the variables, laid side by side.

    It returns a tensor [...] for one objective given by its name, and [..., m] for a list of objectives. It can be
    differentiated twice. Points of a batch are computed at once. Arguments are those of odes.jax.jax_function.
    Numbers are computed in double precision, whatever the type of the tensor.
    """
    scalar = isinstance(of, str)
    flat = Flat(model, of, wrt, fixed, settings, trust)
    m, n = flat.rows, flat.size
    if scalar and m != 1:
        raise ValueError(f"{of} has {m} elements; write of=[{of!r}] for a function with a vector")

    def compute(all_of: Callable[[Any], Any], x: Any, shape: tuple[int, ...]) -> Any:
        points = list(x.detach().cpu().numpy().astype(np.float64).reshape(-1, n))
        out = np.stack(all_of(points)) if points else np.empty((0, *shape))
        return torch.from_numpy(out.reshape(tuple(x.shape[:-1]) + shape)).to(x)

    class Gradient(torch.autograd.Function):  # type: ignore[misc]
        """[..., m, n] at x [..., n]"""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return compute(lambda p: [s.gradient for s in flat.each("sens", p)], x, (m, n))

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, bar: Any) -> Any:
            (x,) = ctx.saved_tensors
            return torch.einsum("...mn,...mnk->...k", bar, compute(lambda p: flat.each("hessians", p), x, (m, n, n)))

    class Value(torch.autograd.Function):  # type: ignore[misc]
        """[..., m] at x [..., n]"""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return compute(lambda p: flat.each("values", p), x, (m,))

        @staticmethod
        def backward(ctx: Any, bar: Any) -> Any:
            (x,) = ctx.saved_tensors
            return torch.einsum("...m,...mn->...n", bar, Gradient.apply(x))

    def f(x: Any) -> Any:
        if x.shape[-1:] != (n,):
            raise ValueError(f"there are {n} elements ({', '.join(flat.wrt)}), not {tuple(x.shape)}")
        y = Value.apply(x)
        return y[..., 0] if scalar else y

    return f
