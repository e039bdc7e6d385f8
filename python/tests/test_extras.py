"""Tests of what needs other packages. Each is skipped where its package is not installed."""

import importlib
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

import odes

ROOT = Path(__file__).resolve().parents[2]
BOUNCE = ROOT / "examples" / "bounce" / "bounce.ode"
POINT = [9.81, 0.8]


def needs(test, *names):
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            test.skipTest(f"{name} is not installed")


class Examples(unittest.TestCase):
    """Every example runs."""

    def run_example(self, name, *packages):
        needs(self, *packages)
        path = ROOT / "python" / "examples" / name
        out = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=600)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertTrue(out.stdout)

    def test_gradient(self):
        self.run_example("gradient.py")

    def test_scipy(self):
        self.run_example("fit_scipy.py", "scipy")

    # Three samplers of the posterior of late.py, each beside integrals on a grid.
    def test_blackjax(self):
        self.run_example("posterior_jax.py", "jax", "blackjax")

    def test_numpyro(self):
        self.run_example("posterior_numpyro.py", "jax", "numpyro")

    def test_pymc(self):
        self.run_example("posterior_pymc.py", "pymc")

    def test_torch(self):
        self.run_example("descent_torch.py", "torch")

    def test_pytensor(self):
        self.run_example("op_pytensor.py", "pytensor")

    def test_all_are_tested(self):
        tests = Path(__file__).read_text()
        for path in (ROOT / "python" / "examples").glob("*.py"):
            self.assertIn(path.name, tests)


class SciPy(unittest.TestCase):
    def test_minimize(self):
        needs(self, "scipy")
        from scipy.optimize import least_squares, minimize

        m = odes.Model("model M\ntime t from 0 to 1\nparam a = 1 in [-5, 5], b = 2\nstate x = 1, y = b\nx' = -a*x\n"
                       "y' = -x\nobjective p = final(x) - 0.5\nobjective q = final(y) - 1\n"
                       "objective J = (final(x) - 0.5)^2 + (final(y) - 1)^2\n")
        f = odes.scipy_objective(m, "J", ["a", "b"], trust=False)
        self.assertEqual((list(f.x0), f.bounds), ([1, 2], [(-5, 5), (None, None)]))
        newton = minimize(f, f.x0, jac=True, hess=f.hessian, method="trust-exact")
        r = odes.scipy_objective(m, ["p", "q"], ["a", "b"], trust=False)
        squares = least_squares(r.residuals, r.x0, r.jacobian)
        for found in (newton, squares):
            np.testing.assert_allclose(found.x[0], np.log(2), rtol=1e-4)
        np.testing.assert_allclose(squares.x, newton.x, rtol=1e-3)
        with self.assertRaisesRegex(ValueError, "residuals"):
            r(r.x0)


class Jax(unittest.TestCase):
    def setUp(self):
        needs(self, "jax")
        import jax

        jax.config.update("jax_enable_x64", True)

    def test_derivatives(self):
        import jax
        import jax.numpy as jnp
        from jax.test_util import check_grads

        from odes.jax import jax_function

        m = odes.Model(BOUNCE)
        f = jax_function(m, "height", ["g", "e"])
        x = jnp.array(POINT)
        check_grads(f, (x,), 2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)
        want = m.sens(of="height", wrt=["g", "e"]).gradient[0]
        np.testing.assert_array_equal(jax.grad(f)(x), want)
        np.testing.assert_array_equal(jax.jit(jax.grad(f))(x), want)
        batch = jnp.stack([x, x + 0.01, x - 0.02])
        rows = jax.jit(jax.vmap(jax.value_and_grad(f)))(batch)
        np.testing.assert_array_equal(rows[0], [f(p) for p in batch])
        np.testing.assert_array_equal(rows[1], [jax.grad(f)(p) for p in batch])
        several = jax_function(m, ["height", "path"], ["g", "e"])
        self.assertEqual(jax.jacrev(several)(x).shape, (2, 2))
        np.testing.assert_allclose(jax.jacfwd(several)(x), jax.jacrev(several)(x), rtol=1e-12)


class Torch(unittest.TestCase):
    def test_derivatives(self):
        needs(self, "torch")
        import torch

        from odes.torch import torch_function

        m = odes.Model(BOUNCE)
        x = torch.tensor([POINT, [9.5, 0.7]], dtype=torch.float64, requires_grad=True)
        for of in ("height", ["height", "path"]):
            f = torch_function(m, of, ["g", "e"])
            self.assertTrue(torch.autograd.gradcheck(f, (x,)))
            self.assertTrue(torch.autograd.gradgradcheck(f, (x,)))


class PyTensor(unittest.TestCase):
    def test_derivatives(self):
        needs(self, "pytensor")
        from pytensor.gradient import verify_grad

        from odes.pytensor import pytensor_op

        f = pytensor_op(odes.Model(BOUNCE), ["height", "path"], ["g", "e"])
        verify_grad(f, [np.array(POINT)], rng=np.random.default_rng(1), mode="FAST_COMPILE")


if __name__ == "__main__":
    unittest.main()
