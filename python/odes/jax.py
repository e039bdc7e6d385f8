"""Objectives of models as functions of JAX.

    >>> import jax, odes
    >>> from odes.jax import jax_function
    >>> jax.config.update("jax_enable_x64", True)
    >>> f = jax_function(odes.Model("model.ode"), of="J", wrt=["k", "g"])
    >>> jax.grad(f)(x)

They work under jit, vmap, grad, jvp, vjp, jacobian and hessian. Derivatives are those of odes: exact for the computed
solution, events included, up to the second ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional, Union

import jax
import jax.numpy as jnp
import numpy as np

from ._flat import EVERY, Fixed, Flat, TrustOf
from ._model import Model, Settings

__all__ = ["jax_function"]


def jax_function(
    model: Model,
    of: Union[str, Sequence[str]],
    wrt: Union[str, Sequence[str]],
    *,
    fixed: Fixed = None,
    settings: Optional[Settings] = None,
    trust: TrustOf = EVERY,
) -> Callable[[Any], Any]:
    """A function of a vector [n]: the elements of the variables, laid side by side.

    Args:
        model: the model.
        of: an objective, of which the function is a scalar; or a list of objectives, of which it is a vector [m].
        wrt: params, and initial values ("initial(x)").
        fixed: values of other params, and first values of wrt.
        settings: as for Model.sens.
        trust: which calls are compared with an independent run: "on", "off", or the first and every n-th of values, of
            gradients and of Hessians. What it does not confirm is a TrustWarning with the values of wrt.

    Returns:
        f, a function of JAX. Points of a vmap are computed at once.

    Errors of odes are raised by the callback, so jax shows them inside an error of its own. JAX has to be told to
    compute in double precision: ``jax.config.update("jax_enable_x64", True)``; otherwise results are rounded.
    """
    scalar = isinstance(of, str)
    flat = Flat(model, of, wrt, fixed, settings, trust)
    m, n = flat.rows, flat.size
    if scalar and m != 1:
        raise ValueError(f"{of} has {m} elements; write of=[{of!r}] for a function with a vector")

    def callback(compute: Callable[[Any], Any], shape: tuple[int, ...]) -> Callable[[Any], Any]:
        def host(x: Any) -> Any:
            x = np.asarray(x, dtype=np.float64)
            points = list(x.reshape(-1, n))
            out = np.stack(compute(points)) if points else np.empty((0, *shape))
            return out.reshape(x.shape[:-1] + shape).astype(dtype())

        def call(x: Any) -> Any:
            what = jax.ShapeDtypeStruct(shape, dtype())
            return jax.pure_callback(host, what, x, vmap_method="expand_dims")

        return call

    def dtype() -> Any:
        return jnp.result_type(float)

    value = callback(lambda points: flat.each("values", points), (m,))
    gradient = callback(lambda points: [s.gradient for s in flat.each("sens", points)], (m, n))
    hessian = callback(lambda points: flat.each("hessians", points), (m, n, n))

    # A tangent is linear in what goes in, so JAX transposes it: one rule gives JVP and VJP.
    @jax.custom_jvp
    def jacobian(x: Any) -> Any:
        return gradient(x)

    @jacobian.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x,), (v,) = primals, tangents
        return jacobian(x), hessian(x) @ v

    @jax.custom_jvp
    def vector(x: Any) -> Any:
        return value(x)

    @vector.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x,), (v,) = primals, tangents
        return vector(x), jacobian(x) @ v

    def f(x: Any) -> Any:
        x = jnp.asarray(x, dtype())
        if x.shape != (n,):
            raise ValueError(f"there are {n} elements ({', '.join(flat.wrt)}), not {x.shape}")
        y = vector(x)
        return y[0] if scalar else y

    return f
