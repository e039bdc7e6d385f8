"""A posterior with events: NUTS of PyMC."""

import pymc
import pytensor.tensor as pt

import late
from odes.pytensor import pytensor_op

nll = pytensor_op(late.m, of="L", wrt=late.names)
with pymc.Model():
    z = pymc.Flat("z", shape=3, initval=late.mode)
    pymc.Potential("posterior", z.sum() - nll(pt.exp(z)))
    out = pymc.sample(
        750, tune=400, chains=2, cores=1, random_seed=1, progressbar=False, compute_convergence_checks=False
    )
late.compare(out.posterior["z"].values)
