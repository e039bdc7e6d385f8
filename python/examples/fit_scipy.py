"""A fit of theophylline with SciPy: the negative log likelihood of concentrations, with exact derivatives."""

from pathlib import Path

from scipy.optimize import minimize

import odes

examples = Path(__file__).parents[2] / "examples"
m = odes.Model(examples / "theophylline" / "theophylline.ode")
start = {"lKe": -2.5, "lKa": 0.5, "lCl": -3.2, "sd": 1.0}
f = odes.scipy_objective(m, of="L", wrt=list(start), fixed=start, trust=False)
found = minimize(f, f.x0, jac=True, hess=f.hessian, method="trust-constr", bounds=f.bounds)
best = f.named(found.x)
print("negative log likelihood", found.fun, "after", found.nit, "iterations")
for name, value in best.items():
    print(name, float(value), m.params[name].unit)

# The end of a search is worth a look with the comparison on.
assert m.sens(of="L", wrt=list(best), set=best)["L"].value_trust == "sound"
assert abs(best["lKe"] - m.params["lKe"].value) < 1e-4
