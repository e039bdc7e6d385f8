"""A posterior with events: NUTS of NumPyro."""

import jax
import jax.numpy as jnp
from numpyro.infer import MCMC, NUTS

import late
from odes.jax import jax_function

jax.config.update("jax_enable_x64", True)
nll = jax_function(late.m, of="L", wrt=late.names)
sampler = MCMC(
    NUTS(potential_fn=lambda z: nll(jnp.exp(z)) - z.sum()), num_warmup=400, num_samples=1500, progress_bar=False
)
sampler.run(jax.random.key(1), init_params=jnp.array(late.mode))
late.compare(sampler.get_samples())
