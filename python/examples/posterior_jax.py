"""A posterior with events: NUTS of BlackJAX samples the volumes of a model whose doses and rescue are events."""

from pathlib import Path

import blackjax
import jax
import jax.numpy as jnp

import odes
from odes.jax import jax_function

jax.config.update("jax_enable_x64", True)
examples = Path(__file__).parents[2] / "examples"
m = odes.Model(examples / "pk" / "pk.ode")
names = ["V1", "V2"]
nll = jax_function(m, of="L", wrt=names, settings={"solver.rtol": 1e-7})
at = jnp.log(jnp.array([m.params[n].value for n in names]))


def log_density(z):
    """Of the logarithms: the likelihood, and normal priors around the values in the text."""
    return -nll(jnp.exp(z)) - 0.5 * jnp.sum(((z - at) / 0.5) ** 2)


sampler = blackjax.nuts(log_density, step_size=0.1, inverse_mass_matrix=jnp.ones(2))
step = jax.jit(sampler.step)
state, key = sampler.init(at), jax.random.key(1)
samples = []
for key in jax.random.split(key, 50):
    state, _ = step(key, state)
    samples.append(state.position)
samples = jnp.exp(jnp.stack(samples))
print("means", dict(zip(names, samples.mean(0).tolist())), "spreads", samples.std(0).tolist())
assert jnp.all(samples.std(0) > 0)
