"""Tests of what needs other packages. Each is skipped where its package is not installed."""

import importlib
import subprocess
import sys
import unittest
import warnings
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


TINY = """
time t from 0 to 3
param k = 1.5
state x = 1e-12
x' = -k*x
event e when x < 0.5e-12 once { x = x + 0.7e-12 }
objective J = final(x)
solver { atol = 1e-9 }
"""


class Compared(unittest.TestCase):
    def warned(self, f, calls):
        """What TrustWarnings there are of so many calls with k = 1, 2, …"""
        with warnings.catch_warnings(record=True) as got:
            warnings.simplefilter("always")
            for i in range(calls):
                f(np.array([1.0 + i]))
        return [str(w.message) for w in got if issubclass(w.category, odes.TrustWarning)]

    def test_calls(self):
        # Tolerances of 1e-9 mean nothing for a state of 1e-12, so no comparison confirms anything.
        m = odes.Model(TINY)
        for trust, calls in ((1000, [1]), ("off", []), (False, []), ("on", [1, 2, 3, 4, 5]), (2, [1, 3, 5])):
            f = odes.scipy_objective(m, "J", ["k"], trust=trust)
            got = self.warned(f, 5)
            self.assertEqual(len(got), len(calls), (trust, got))
            for text, k in zip(got, calls):
                self.assertIn(f"(at k = {k})", text)
        f = odes.scipy_objective(m, "J", ["k"])
        self.assertEqual(len(self.warned(f, 1001)), 2)
        with self.assertRaisesRegex(ValueError, "trust is"):
            odes.scipy_objective(m, "J", ["k"], trust="some")

    def test_batches(self):
        from odes._flat import Flat

        flat = Flat(odes.Model(TINY), "J", "k", trust=4)
        with warnings.catch_warnings(record=True) as got:
            warnings.simplefilter("always")
            flat.each("sens", [[1.0 + i] for i in range(6)])
            flat.each("sens", [[11.0 + i] for i in range(6)])
        texts = sorted(str(w.message).rpartition("(at ")[2] for w in got)
        self.assertEqual(texts, ["k = 1)", "k = 13)", "k = 5)"])

    def test_members(self):
        m = odes.Model(TINY)
        with self.assertWarnsRegex(odes.TrustWarning, "not confirmed"):
            e = m.ensemble(64, draw={"k": (1, 2)})
        self.assertEqual((e.status, len(e.compared.unconfirmed)), ("partial", e.compared.members))
        self.assertTrue(16 <= e.compared.members <= 18 and e.ok.sum() == 64 - e.compared.members)
        e = m.ensemble(64, draw={"k": (1, 2)}, trust=False)
        self.assertEqual((e.status, e.compared.members), ("ok", 0))
        with self.assertWarns(odes.TrustWarning):
            e = m.sweep({"k": np.linspace(1, 2, 40)}, trust=True)
        self.assertEqual((e.compared.members, e.ok.sum()), (40, 0))

    def test_ranges(self):
        m = odes.Model("time t from 0 to 2\nparam k = 1\nstate x = 0\nx' = k\nobjective J = final(x)\n")
        even = m.ensemble(512, draw={"k": (0.1, 3)}, seed=1)
        ratios = m.ensemble(512, draw={"k": (0.1, 3, "log")}, seed=1)
        self.assertAlmostEqual(even["J"].value.mean(), 3.1, places=2)
        self.assertAlmostEqual(ratios["J"].value.mean(), 2 * 2.9 / np.log(30), places=2)


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
