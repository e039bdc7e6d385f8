"""The posterior of late.ode for samplers, and what it is: integrals on a grid, without gradients and samplers.

Samplers take the logarithms z of the params. Their density has the factor exp(sum(z)).
"""

from pathlib import Path

import numpy as np

import odes

names = ["k", "V", "lag"]
m = odes.Model(Path(__file__).with_name("late.ode"))
best = m.fit(over=names, minimize="L", log="all", settings={"fit.intervals": "wald"})
mode = np.log([best[n].value for n in names])


def grid(points=61):
    """Means and standard deviations of the params [3]."""
    p = np.exp(mode)
    f = odes.scipy_objective(m, of="L", wrt=names, trust=False)
    hessian = f.hessian(p) * np.outer(p, p) + np.diag(f(p)[1] * p)
    axis = np.linspace(-8, 8, points)  # there is a long tail
    u = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    z = mode + u @ np.linalg.inv(np.linalg.cholesky(hessian))
    values = m.ensemble(rows=dict(zip(names, np.exp(z).T)), of="L", gradient=False)["L"].value
    weight = np.exp(z.sum(axis=1) - mode.sum() - values + best.value)
    weight /= weight.sum()
    mean = weight @ np.exp(z)
    return mean, np.sqrt(weight @ (np.exp(z) - mean) ** 2)


def compare(draws):
    """Prints the means and standard deviations of draws [n, 3] of z beside those of the grid, and demands agreement."""
    x = np.exp(np.asarray(draws).reshape(-1, 3))
    mean, sd = grid()
    for i, name in enumerate(names):
        print(f"{name:4} {x[:, i].mean():.4f} ± {x[:, i].std():.4f}   grid {mean[i]:.4f} ± {sd[i]:.4f}")
    assert np.all(np.abs(x.mean(axis=0) - mean) < 0.2 * sd), "the means differ"
    assert np.all(np.abs(x.std(axis=0) / sd - 1) < 0.2), "the standard deviations differ"
