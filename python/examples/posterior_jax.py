"""A posterior with events: NUTS of BlackJAX samples when doses came, of which a rescue dose is one."""

import blackjax
import jax
import jax.numpy as jnp

import late
from odes.jax import jax_function

jax.config.update("jax_enable_x64", True)
nll = jax_function(late.m, of="L", wrt=late.names)


def log_density(z):
    return z.sum() - nll(jnp.exp(z))


warm, key = jax.random.split(jax.random.key(1))
adapt = blackjax.window_adaptation(blackjax.nuts, log_density)
(state, parameters), _ = adapt.run(warm, jnp.array(late.mode), num_steps=400)
step = jax.jit(blackjax.nuts(log_density, **parameters).step)
draws = []
for key in jax.random.split(key, 1500):
    state, _ = step(key, state)
    draws.append(state.position)
late.compare(jnp.stack(draws))
