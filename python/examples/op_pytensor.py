"""An Op of PyTensor: what a model of PyMC takes as a Potential."""

from pathlib import Path

import numpy as np
import pytensor
import pytensor.tensor as pt

import odes
from odes.pytensor import pytensor_op

examples = Path(__file__).parents[2] / "examples"
nll = pytensor_op(odes.Model(examples / "pk" / "pk.ode"), of="L", wrt=["V1", "V2"])
z = pt.dvector("z")
log_density = -nll(pt.exp(z)) - 0.5 * pt.sum((z - np.log([30, 60])) ** 2)
f = pytensor.function([z], [log_density, pytensor.grad(log_density, z)], mode="FAST_COMPILE")
value, gradient = f(np.log([30.0, 60.0]))
print("log density", value, "gradient", gradient)
assert np.isfinite(gradient).all()
