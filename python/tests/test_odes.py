"""Tests of the package: python3 -m unittest discover -s python/tests -t python/tests"""

import _thread
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import numpy as np

import odes
from odes import _server

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has jobs in the background ignore it

ROOT = Path(__file__).resolve().parents[2]
BOUNCE = ROOT / "examples" / "bounce" / "bounce.ode"

DECAY = """model Decay "something that decays"
time t : [h] from 0 to T
param T = 2 [h]
param k = 0.5 [1/h] in [0, 10]  ## rate
param a[2,3] = 1
state x = 1 [mg]
state y[2,3] = a
x' = -k*x
y' = -k*y
output X = x  ## what is left
output Y = y
objective J = final(x)  ## the rest
objective Z[i] = final(y[1,i]) for i in 1:3
solver { rtol = 1e-10  atol = 1e-12 }
"""

PATIENTS = """time t from 0 to 24
param k = 0.3
state body = 0
body' = -k*body
output x = body
data D { ID = [1, 1, 2, 2]  time = [0, 5, 0, 5]  AMT = [100, 0, 70, 0]  DV = [nan, 20, nan, 10] }
doses D { body }
observe y = body ~ normal(1) from D.DV
experiment subject from D by D.ID
objective L = nll()
"""

ENDLESS = "model M\ntime t from 0 to 1e9\nparam k = 1\nstate x = 1, v = 0\nx' = v\nv' = -k*x\n" \
    "objective J = final(x)\nsolver { max_steps = 1e12 }\n"

EXPLODES = "model M\ntime t from 0 to 2\nparam a = 0.1\nstate x = 1\nx' = a*x^2\nobjective J = final(x)\n"


NORMAL = """model Normal
time t from 0 to 3
param mu = 0 ~ normal(1, 2)
param b[2] = 0 ~ normal(0, 1)
state x = mu + b[1]
x' = 0
data D { time = [1, 2, 3]  y = [2.1, 2.9, 3.3] }
observe o = x ~ normal(0.5) from D.y
"""


class Samples(unittest.TestCase):
    def test_groups(self):
        """Draws have all that InferenceData has, with arrays in their shapes."""
        s = odes.Model(NORMAL).sample(draws=300, chains=2, seed=3, predictive=True)
        self.assertEqual(s.status, "ok")
        self.assertEqual(s.draws()["mu"].shape, (2, 300))
        mu = s["prior"]["mu"]
        self.assertEqual(len(mu), 600)
        self.assertLess(abs(np.mean(mu) - 1), 0.4)
        self.assertLess(abs(np.std(mu) - 2), 0.3)
        try:
            import arviz  # noqa: F401
        except ImportError:
            self.skipTest("arviz is not installed")
        d = s.to_arviz()
        self.assertEqual(set(d.groups()), {
            "posterior", "sample_stats", "log_likelihood", "posterior_predictive", "prior", "observed_data"})
        self.assertEqual(d.posterior["b"].shape, (2, 300, 2))
        self.assertEqual(d.prior["b"].shape, (1, 600, 2))
        self.assertEqual(d.log_likelihood["o"].shape, (2, 300, 3))
        self.assertEqual(d.posterior_predictive["o"].shape, (2, 300, 3))
        np.testing.assert_array_equal(d.observed_data["o"], [2.1, 2.9, 3.3])
        self.assertEqual(d.sample_stats["diverging"].dtype, bool)


class Results(unittest.TestCase):
    def setUp(self):
        self.m = odes.Model(DECAY, name="decay.ode")

    def test_model(self):
        m = self.m
        self.assertEqual((m.name, m.title, m.time, m.time_unit), ("Decay", "something that decays", "t", "h"))
        k = m.params["k"]
        self.assertEqual((k.value, k.unit, k.low, k.high, k.doc), (0.5, "1/h", 0, 10, "rate"))
        self.assertEqual(m.params["a"].value.shape, (2, 3))
        self.assertEqual(list(m.objectives), ["J", "Z"])
        self.assertIn("Decay", m._repr_html_())
        self.assertIn("Decay", repr(m))

    def test_other_doses(self):
        left = 30 * np.exp(-0.3 * 9) + 40.5 * np.exp(-0.3 * 2)
        m = odes.Model(PATIENTS, experiment="subject_2", doses={"TIME": [1, 8], "AMT": np.array([30, 40.5])})
        for x in (m, pickle.loads(pickle.dumps(m))):
            np.testing.assert_allclose(x.run([10])["x"].value, [left], rtol=1e-6)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "new.csv"
            path.write_text("TIME,AMT\n1,30\n8,40.5\n")
            m = odes.Model(PATIENTS, experiment="subject_2", doses=path)
        np.testing.assert_allclose(m.run([10])["x"].value, [left], rtol=1e-6)
        m = odes.Model(PATIENTS, experiment="subject_2")
        np.testing.assert_allclose(m.run([10])["x"].value, [70 * np.exp(-3)], rtol=1e-6)
        with self.assertRaisesRegex(odes.ModelError, "say which, such as subject_1"):
            odes.Model(PATIENTS, doses={"TIME": [1], "AMT": [30]})
        with self.assertRaisesRegex(odes.ModelError, "no column AMT"):
            odes.Model(PATIENTS, experiment="subject_2", doses={"TIME": [1]})
        with self.assertRaisesRegex(ValueError, "one length"):
            odes.Model(PATIENTS, experiment="subject_2", doses={"TIME": [1, 2], "AMT": [30]})

    def test_values_and_derivatives(self):
        with self.assertRaisesRegex(odes.RequestError, "k cannot be nan"):
            self.m.sens(k=np.nan)
        s = self.m.sens(k=0.3, wrt=["k", "a", "T", "initial(x)"])
        rest = np.exp(-0.6)
        self.assertAlmostEqual(s["J"].value, rest, 8)
        self.assertAlmostEqual(s["J"].d["k"], -2 * rest, 7)
        self.assertAlmostEqual(s["J"].d["T"], -0.3 * rest, 7)
        self.assertAlmostEqual(s["J"].d["initial(x)"], rest, 7)
        self.assertIsInstance(s["J"].value, float)
        self.assertEqual((s["J"].unit, s["J"].trust, s["J"].doc), ("mg", "sound", "the rest"))
        self.assertEqual(s["Z"].value.shape, (3,))
        self.assertEqual(s["Z"].d["a"].shape, (3, 2, 3))
        self.assertAlmostEqual(s["Z"].d["a"][1, 0, 1], rest, 7)
        self.assertEqual(s["Z"].d["a"][1, 1, 1], 0)
        self.assertEqual(s["Z[2]"].value, s["Z"].value[1])
        self.assertEqual(list(s), ["J", "Z"])
        self.assertEqual(s.gradient.shape, (4, len(s.columns)))
        self.assertEqual(s.columns[1:4], ["a[1,1]", "a[1,2]", "a[1,3]"])
        self.assertLess(s["J"].d_error["k"], 1e-6)
        self.assertEqual(s["J"].d_trust["k"], odes.Trust.SOUND)
        with self.assertRaisesRegex(KeyError, "J, Z"):
            s["K"]
        with self.assertRaisesRegex(KeyError, "initial"):
            s["J"].d["x"]
        self.assertIn("value", s._repr_html_())
        text = str(s)  # what print shows: a table, whose columns stand under each other
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^ +J \[mg\] +Z\[1\]")
        self.assertTrue(lines[1].startswith("value  "), text)
        self.assertTrue(any(line.startswith("d/d k ") for line in lines), text)
        self.assertNotIn("<", text)
        self.assertTrue(repr(s).startswith("<Sensitivities"))

    def test_arrays_and_units_are_set(self):
        a = np.arange(6.0).reshape(2, 3)
        s = self.m.sens(a=a, k=(0.005, "1/min"), set={"initial(x)": 2, "a[1,2]": 7}, of=["J", "Z"], wrt="k")
        self.assertAlmostEqual(s["J"].value, 2 * np.exp(-0.6), 7)
        s = self.m.sens(a=a, of="Z", wrt="k")
        np.testing.assert_allclose(s["Z"].value, a[0] * np.exp(-1), rtol=1e-7, atol=1e-12)
        with self.assertRaises(ValueError):
            self.m.sens(a=a.T)

    def test_run(self):
        r = self.m.run([0, 1, 2], k=0.3)
        np.testing.assert_allclose(r["X"].value, np.exp([0, -0.3, -0.6]), rtol=1e-7)
        self.assertEqual(r["Y"].value.shape, (3, 2, 3))
        self.assertEqual((r["X"].unit, r["X"].trust, r.span), ("mg", "sound", (0, 2)))
        self.assertAlmostEqual(r.objectives["J"].value, np.exp(-0.6), 7)
        self.assertGreater(len(self.m.run().t), 2)
        self.assertEqual(len(self.m.run([]).t), 0)
        self.assertIn("X", r._repr_html_())
        self.assertEqual(str(r).splitlines()[1].split()[:2], ["0", "1"])
        self.assertIn("Decay", str(self.m))

    def test_second(self):
        h = self.m.hessian(of="J", wrt=["k", "a"], k=0.3)["J"]
        self.assertAlmostEqual(h.d2["k", "k"], 4 * np.exp(-0.6), 6)
        self.assertEqual(h.d2["k", "a"].shape, (2, 3))
        v = np.arange(7.0)
        p = self.m.hvp(v, of="J", wrt=["k", "a"], k=0.3)["J"].product
        np.testing.assert_allclose(p, h.hessian @ v, rtol=1e-8, atol=1e-12)

    def test_events(self):
        s = odes.Model(BOUNCE).sens(event_times=True, wrt=["g", "h0"])
        self.assertEqual([e.name for e in s.events], ["bounce", "bounce"])
        t, d = s.events[0].t, s.events[0].d
        self.assertAlmostEqual(t, np.sqrt(2 * 2 / 9.81), 8)
        self.assertAlmostEqual(d["g"], -t / 2 / 9.81, 7)

    def test_repeated_calls_have_the_same_bits(self):
        first = self.m.sens(k=0.3).gradient.tobytes()
        self.m.sens(k=0.4)
        self.assertEqual(self.m.sens(k=0.3).gradient.tobytes(), first)
        self.assertEqual(odes.Model(DECAY).sens(k=0.3).gradient.tobytes(), first)
        _server.current().call(b'{"op":"close","model":%d}' % self.m._opened[1])
        for job in self.m._jobs.values():
            _server.current().call(job.again.replace(b'"again"', b'"close"'))
        self.assertEqual(self.m.sens(k=0.3).gradient.tobytes(), first)
        self.assertEqual(self.m.sens(k=0.3, set={"initial(x)": 1})["J"].value, self.m.sens(k=0.3)["J"].value)

    def test_pickle(self):
        m = pickle.loads(pickle.dumps(self.m))
        self.assertEqual(m.sens(k=0.3).gradient.tobytes(), self.m.sens(k=0.3).gradient.tobytes())

    def test_settings(self):
        s = self.m.sens(settings={"solver.rtol": 1e-4, "sens.mode": "tangent"}, trust=False)
        self.assertEqual((s.settings["rtol"], s.settings["mode"]), (1e-4, "tangent"))
        with self.assertRaises(AttributeError):
            s["J"].d_error

    def test_views(self):
        s, r = self.m.sens(k=0.3), self.m.run([0, 1])
        try:
            import matplotlib
            import pandas
            import xarray
        except ImportError as e:
            self.skipTest(f"{e.name} is not installed")
        del pandas, xarray
        matplotlib.use("agg")
        self.assertEqual(s.to_pandas().loc["J", "k"], s["J"].d["k"])
        self.assertEqual(r.to_pandas()["Y[2,3]"].iloc[0], 1)
        self.assertEqual(r.to_xarray()["Y"].dims, ("t", "Y_1", "Y_2"))
        self.assertEqual(s.to_xarray()["gradient"].shape, s.gradient.shape)
        s.plot()
        self.assertEqual(len(r.plot("X", "Y").lines), 2 * 3 + 1 + 0)


FIT = """model Fit
time t : [h] from 0 to 4
param k = 1 [1/h] in [0.01, 10], c[2] = 1 [mg] in [0.1, 10]
param rest = 3
state x = c[1], y = c[2]
x' = -k*x
y' = -k*y
data D {
  time = [1, 2, 3, 4] [h]
  x = [1.22, 0.73, 0.45, 0.27] [mg]
  y = [0.61, 0.365, 0.225, 0.135] [mg]
}
observe a = x ~ normal(0.01 [mg]) from D.x
observe b = y ~ normal(0.01 [mg]) from D.y
output X = x
output Y[i] = i*y for i in 1:2
objective J = nll()
objective F = final(x)
fit { minimize = J  starts = 2 }
ensemble { n = 16  k ~ uniform(0.5, 1.5)  seed = 3 }
"""


SWITCH = """model Switch
time t from 0 to 1
param k = 1
state x = 0
x' = k - x
objective J = steady(x)
solver fine { rtol = 1e-9 }
"""


class Many(unittest.TestCase):
    """Fits, ensembles and sweeps."""

    def setUp(self):
        self.m = odes.Model(FIT)

    def test_limits(self):
        """Data at a limit of quantification or beyond have no residuals."""
        m = odes.Model(
            "time t from 0 to 3\nparam k = 1\nstate x = k\nx' = 0\n"
            "data D { time = [1, 2, 3]  y = [0.1, 1, 3] }\n"
            "observe o = x ~ normal(0.5, below = 0.5, above = 2) from D.y\nobjective L = nll()"
        )
        o = m.predict()[0]
        np.testing.assert_array_equal(o.data, [0.5, 1, 2])
        np.testing.assert_array_equal(o.below, [1, 0, 0])
        np.testing.assert_array_equal(o.above, [0, 0, 1])
        np.testing.assert_array_equal(np.isnan(o.residual), [True, False, True])

    def test_fit(self):
        seen = []
        f = self.m.fit(over=["k", "c"], log="all", starts=3, seed=5, k=0.7, progress=seen.append)
        self.assertEqual((f.status, f.objective, list(f), f.names), ("ok", "J", ["k", "c"], ["k", "c[1]", "c[2]"]))
        # Both decay alike, and c[1] is twice c[2] in the data, so this is a line through logarithms but for the noise.
        self.assertAlmostEqual(f["k"].value, 0.5, 2)
        np.testing.assert_allclose(f["c"].value, [2, 1], rtol=0.02)
        self.assertEqual((f["k"].unit, f["c"].unit, f["k"].before, f["k"].log), ("1/h", "mg", 0.7, True))
        self.assertEqual((f["k"].low, f["k"].high, f["k"].at_bound), (0.01, 10, 0))
        self.assertTrue(f["k"].lower < f["k"].value < f["k"].upper)
        self.assertEqual((f.correlation.shape, len(f.starts), f.rows, f.identifiable), ((3, 3), 3, 8, True))
        self.assertEqual(f.settings["seed"], 5)
        self.assertLess(max(s.value for s in f.starts) - f.value, 1e-6)
        # The minimum is one, for what differentiates as well.
        s = self.m.sens(of="J", wrt=["k", "c"], set=f.params, trust=False)["J"]
        self.assertAlmostEqual(s.value, f.value, 9)
        np.testing.assert_allclose(s.gradient, 0, atol=1e-3)
        # Wald's standard errors are those of the Hessian, which is J'J but for the residuals.
        h = self.m.hessian(of="J", wrt=["k", "c"], set=f.params, trust=False)["J"].hessian
        errors = np.sqrt(np.diag(np.linalg.inv(h)))
        np.testing.assert_allclose([f["k"].stderr, *f["c"].stderr], errors, rtol=0.05)
        p = f.predictions
        self.assertEqual(([o.observation for o in p], p[0].unit), (["a", "b"], "mg"))
        np.testing.assert_array_equal(p[0].data, [1.22, 0.73, 0.45, 0.27])
        np.testing.assert_allclose(p[0].residual, (p[0].data - p[0].value) / 0.01, rtol=1e-9)
        q = self.m.predict(set=f.params)
        np.testing.assert_allclose(q[1].value, p[1].value, rtol=1e-12)
        again = self.m.fit(over=["k", "c"], log="all", starts=3, seed=5, k=0.7)
        self.assertEqual(again["c"].value.tobytes(), f["c"].value.tobytes())
        self.assertIn("estimate", f._repr_html_())
        self.assertIn("J", repr(f))
        for p in seen:
            self.assertIn(p.phase, ("searches", "profiles"))
        with self.assertRaisesRegex(KeyError, "k, c"):
            f["rest"]

    def test_fit_says_what_is_wrong(self):
        with self.assertRaises(odes.RequestError) as c:
            self.m.fit(over=["kk"])
        self.assertTrue(c.exception.diagnostics)
        with self.assertRaises(odes.RunError):
            odes.Model(EXPLODES).fit(over="a", minimize="J", a=5)
        with self.assertRaises(odes.RequestError):
            odes.Model(DECAY).predict()
        with warnings.catch_warnings(record=True) as got:
            warnings.simplefilter("always")
            f = self.m.fit(over=["k", "rest"])  # rest has no influence
        self.assertFalse(f.identifiable)
        self.assertEqual(list(f.unidentified[0]), ["rest"])
        self.assertTrue(any(issubclass(w.category, odes.OdesWarning) for w in got))

    def test_control(self):
        m = odes.Model("model M\ntime t from 0 to 1\ncontrol u = 0 in [-9, 9] piecewise constant on grid(0, 1, 6)\n"
                       "state x = 0\nx' = u\nobjective effort = integral(u^2)\nconstraint there: final(x) == 1\n"
                       "fit { minimize = effort  over = u }\n")
        f = m.fit()
        np.testing.assert_allclose(f["u"].value, 1, atol=1e-6)  # by Cauchy and Schwarz
        self.assertAlmostEqual(f.value, 1, 6)
        self.assertAlmostEqual(next(iter(f.constraints.values())), 0, 8)

    def test_warnings_of_members(self):
        m = odes.Model(SWITCH)
        with self.assertWarnsRegex(odes.OdesWarning, "nothing confirms what they found") as told:
            e = m.sweep({"k": [1, 2, 3]}, settings={"solver.steady_start": "warm"}, trust=False)
        self.assertEqual(told.filename, __file__)
        self.assertEqual([w.level for w in e.warnings], ["note", "warning"])
        self.assertIn("no solver block holds", e.warnings[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # notes are in the result only
            self.assertEqual(len(m.sweep({"k": [1, 2, 3]}).warnings), 1)

    def test_ensemble(self):
        e = self.m.ensemble(of="F", wrt=["k", "c"])
        self.assertEqual((e.shape, list(e), e.status, e.ok.all(), e["F"].unit), ((16,), ["F"], "ok", True, "mg"))
        k = e.params["k"]
        np.testing.assert_allclose(e["F"].value, np.exp(-4 * k), rtol=1e-5)
        np.testing.assert_allclose(e["F"].d["k"], -4 * np.exp(-4 * k), rtol=1e-4)
        self.assertEqual(e["F"].d["c"].shape, (16, 2))
        for i in (0, 15):  # the bits of a run alone
            s = self.m.sens(of="F", wrt=["k", "c"], k=k[i], trust=False)
            self.assertEqual(s["F"].gradient.tobytes(), e._arrays["gradient"][i].tobytes())
        np.testing.assert_array_equal(self.m.ensemble(of="F", seed=3).params["k"], k)
        self.assertEqual(e.warnings, [])
        e = self.m.ensemble(5, draw={"k": (0.5, 2), "c[2]": "normal(1, 0.1)"}, of="F", gradient=False, points="lhs")
        self.assertEqual(list(e.params), ["k", "c[2]"])
        self.assertTrue(((e.params["k"] >= 0.5) & (e.params["k"] <= 2)).all())
        with self.assertRaises(AttributeError):
            e["F"].d
        for wrong in ({"draw": {"kk": (1, 2)}}, {"points": "dance"}, {"indices": "dance"}, {"rows": {"kk": [1]}}):
            with self.assertRaises(odes.RequestError, msg=str(wrong)):
                self.m.ensemble(**wrong)

    def test_table(self):
        c = np.array([[1, 2], [3, 4], [5, 6]])
        e = self.m.ensemble(rows={"k": [1, 2, 3], "c": c}, times=[0, 1], set={"rest": 4})
        self.assertEqual(e.outputs["Y"].value.shape, (3, 2, 2))
        np.testing.assert_allclose(e.outputs["X"].value[:, 1], c[:, 0] * np.exp([-1, -2, -3]), rtol=1e-5)
        np.testing.assert_allclose(e.outputs["Y"].value[:, 0, 1], 2 * c[:, 1], rtol=1e-12)
        np.testing.assert_array_equal(e.t, [0, 1])
        with self.assertRaisesRegex(ValueError, "length"):
            self.m.ensemble(rows={"k": [1, 2], "c[1]": [1]})
        with self.assertRaisesRegex(ValueError, "no values"):
            self.m.ensemble(rows={"k": []})
        m = odes.Model(EXPLODES)
        e = m.ensemble(rows={"a": [0.1, 1, 0.2]})
        self.assertEqual((e.status, e.ok.tolist(), e.failures[0].member), ("partial", [True, False, True], 1))
        self.assertTrue(np.isnan(e["J"].value[1]))

    def test_sweep(self):
        g, c = np.linspace(0.5, 1, 3), np.array([1.0, 2.0])
        s = self.m.sweep({"k": g, "c[1]": c}, of="F", wrt="k", gradient=True)
        self.assertEqual(s.shape, (3, 2))
        np.testing.assert_allclose(s["F"].value, np.exp(-4 * g)[:, None] * c, rtol=1e-5)
        np.testing.assert_allclose(s["F"].d["k"], -4 * np.exp(-4 * g)[:, None] * c, rtol=1e-4)

    def test_indices(self):
        i = self.m.ensemble(256, draw={"k": (0.5, 1.5), "rest": (0, 1)}, of="F", indices="sobol").indices
        self.assertAlmostEqual(i["F", "k"]["first"], 1, 1)
        self.assertAlmostEqual(i["F", "rest"]["total"], 0, 12)

    def test_interrupt(self):
        m = odes.Model(ENDLESS)
        pid = _server.current().pid
        for call in (lambda: m.fit(over="k", minimize="J"), lambda: m.ensemble(rows={"k": [1, 2]})):
            timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                call()
        self.assertEqual(_server.current().pid, pid)
        time.sleep(0.5)  # what was cancelled ends
        cpu = _cpu(pid)
        time.sleep(0.5)
        self.assertLess(_cpu(pid) - cpu, 0.3)

    def test_killed(self):
        m = odes.Model(ENDLESS)
        timer = threading.Timer(0.5, lambda: _server.current()._process.kill())
        timer.start()
        with self.assertRaises(odes.ServerError):
            m.ensemble(rows={"k": [1, 2]})
        self.assertEqual(self.m.ensemble(of="F").status, "ok")

    def test_views(self):
        try:
            import matplotlib
            import pandas as pd
            import xarray
        except ImportError as e:
            self.skipTest(f"{e.name} is not installed")
        del xarray
        matplotlib.use("agg")
        f = self.m.fit(over=["k", "c"])
        self.assertEqual(f.to_pandas().loc["c[2]", "value"], f["c"].value[1])
        self.assertEqual(len(f.predictions.to_pandas()), 8)
        f.plot()
        e = self.m.ensemble(rows=pd.DataFrame({"k": [1.0, 2.0]}), of="F", wrt="k")
        self.assertEqual(e.to_pandas()["d(F)/d(k)"].tolist(), e["F"].d["k"].tolist())
        self.assertEqual(e.to_xarray()["F"].dims, ("member",))
        e.plot()
        s = self.m.sweep({"k": [1, 2], "c[1]": [1, 2, 3]}, of="F")
        self.assertEqual(s.to_xarray()["F"].sizes, {"k": 2, "c[1]": 3})
        s.plot()
        o = self.m.ensemble(rows={"k": [1, 2]}, times=[0, 1])
        self.assertEqual(o.to_xarray()["Y"].dims, ("member", "t", "Y_1"))
        o.plot("Y")
        matplotlib.pyplot.close("all")

    def test_select(self):
        a = self.m.analysis("select", options={"among": ["k = 0.5 [1/h]"], "criterion": "aic"})
        self.assertEqual(a.facts["best"], "k = 0.5 [1/h]")
        self.assertEqual(list(a["models"]["estimates"]), [2, 3])
        with self.assertRaises(odes.RequestError):
            self.m.analysis("select", options={"amung": ["k = 0.5"]})


class Errors(unittest.TestCase):
    def test_model_error_has_its_place(self):
        with self.assertRaises(odes.ModelError) as c:
            odes.Model(DECAY.replace("-k*x", "-kk*x"), name="decay.ode")
        d = c.exception.diagnostics[0]
        self.assertEqual((d.code, d.level, d.file, d.line, d.column), ("undefined-name", "error", "decay.ode", 8, 7))
        self.assertIn("^^", str(c.exception))
        self.assertIn("kk", d.message)
        again = pickle.loads(pickle.dumps(c.exception))
        self.assertEqual(again.diagnostics, c.exception.diagnostics)
        for empty in ("", " "):  # a text, not the folder that Path("") is
            with self.assertRaisesRegex(odes.ModelError, "the model is empty"):
                odes.Model(empty)

    def test_file_that_is_not_there(self):
        with self.assertRaises(FileNotFoundError):
            odes.Model("nowhere.ode")

    def test_requests(self):
        m = odes.Model(DECAY)
        for wrong in ({"kk": 1}, {"of": "K"}, {"wrt": ["z"]}, {"k": (1, "kg")}, {"settings": {"solver.rtol": "no"}}):
            with self.assertRaises(odes.RequestError, msg=str(wrong)) as c:
                m.sens(**wrong)
            self.assertTrue(c.exception.diagnostics)
        with self.assertRaises(odes.RequestError):
            m.run([1, 0])

    def test_run_error_says_how_far_it_came(self):
        m = odes.Model(EXPLODES)
        self.assertAlmostEqual(m.sens(a=0.1)["J"].value, 1.25, 6)
        with self.assertRaises(odes.RunError) as c:
            m.sens(a=1)
        self.assertEqual(c.exception.start, 0)
        self.assertAlmostEqual(c.exception.reached, 1, 2)
        self.assertEqual(c.exception.diagnostics[0].level, "error")

    def test_warnings(self):
        m = odes.Model(BOUNCE)
        with warnings.catch_warnings(record=True) as got:
            warnings.simplefilter("always")
            m.run([0], g=5)  # with which the ball bounces once
        trust = [w for w in got if issubclass(w.category, odes.TrustWarning)]
        self.assertIn("t_second", str(trust[0].message))
        self.assertEqual(Path(trust[0].filename).name, Path(__file__).name)


class Process(unittest.TestCase):
    def start_endless(self, m):
        errors = []

        def call():
            try:
                m.run([0])
            except BaseException as e:
                errors.append(e)

        t = threading.Thread(target=call)
        t.start()
        time.sleep(0.5)
        return t, errors

    def test_progress(self):
        seen = []

        class Enough(Exception):
            pass

        def tell(p):
            seen.append(p)
            if len(seen) == 3:
                raise Enough

        with self.assertRaises(Enough):
            odes.Model(ENDLESS).run([0], progress=tell)
        self.assertEqual(seen[0].phase, "forward")
        self.assertGreater(seen[2].steps, seen[0].steps)

    def test_killed_in_a_call(self):
        m = odes.Model(ENDLESS)
        small = odes.Model(DECAY)
        want = small.sens(k=0.3).gradient.tobytes()
        t, errors = self.start_endless(m)
        os.kill(_server.current().pid, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
        t.join(30)
        self.assertFalse(t.is_alive())
        self.assertIsInstance(errors[0], odes.ServerError)
        self.assertEqual(small.sens(k=0.3).gradient.tobytes(), want)

    def test_shutdown(self):
        m = odes.Model(DECAY)
        process = _server.current()._process
        odes.shutdown()
        self.assertIsNotNone(process.poll())
        m.sens(k=0.3)

    @unittest.skipIf(os.name == "nt", "Windows has no signal that only one process gets")
    def test_interrupt_stops_the_run(self):
        m = odes.Model(ENDLESS)
        server = _server.current()
        timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            m.run([0])
        self.assertIs(_server.current(), server)
        self.assertAlmostEqual(odes.Model(DECAY).sens(k=0.3)["J"].value, np.exp(-0.6), 7)
        for _ in range(100):  # the run has ended as well
            if not server._slots:
                break
            time.sleep(0.01)
        cpu = _cpu(server.pid)
        time.sleep(0.5)
        self.assertLess(_cpu(server.pid) - cpu, 0.3)

    def test_interrupts_at_any_time(self):
        m = odes.Model(DECAY)
        want = m.sens(k=0.3).gradient.tobytes()
        big = np.ones(300_000)
        for i in range(60):
            timer = threading.Timer(0.0005 * i, _thread.interrupt_main)
            try:
                timer.start()
                while True:
                    m.sens(k=0.3, trust=False)
                    m.run(np.cumsum(big[:2000]) * 1e-4, trust=False)
            except KeyboardInterrupt:
                pass
            self.assertEqual(m.sens(k=0.3).gradient.tobytes(), want)

    def test_large_requests(self):
        times = np.linspace(0, 2, 200_001)
        r = odes.Model(DECAY).run(times, k=0.3, trust=False)
        np.testing.assert_allclose(r["X"].value, np.exp(-0.3 * times), rtol=1e-6)

    def test_threads(self):
        m = odes.Model(DECAY)
        want = {k: m.sens(k=k).gradient.tobytes() for k in (0.1, 0.2, 0.3)}
        wrong = []

        def work(i):
            for n in range(50):
                k = (0.1, 0.2, 0.3)[(i + n) % 3]
                if m.sens(k=k).gradient.tobytes() != want[k]:
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(10)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_forks(self):
        m = odes.Model(DECAY)
        want = m.sens(k=0.3).gradient.tobytes()
        ours = _server.current().pid
        children = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            for _ in range(10):
                pid = os.fork()
                if pid == 0:
                    status = 1
                    try:
                        ok = all(m.sens(k=0.3).gradient.tobytes() == want for _ in range(5))
                        status = 0 if ok and _server.current().pid != ours else 2
                        odes.shutdown()
                    finally:
                        os._exit(status)
                children.append(pid)
        self.assertEqual(m.sens(k=0.3).gradient.tobytes(), want)
        self.assertEqual([os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children], [0] * 10)
        self.assertEqual(_server.current().pid, ours)
        self.assertEqual(m.sens(k=0.3).gradient.tobytes(), want)

    def test_nothing_is_left_behind(self):
        code = "import odes; from odes import _server; odes.Model('model M\\ntime t from 0 to 1\\nstate x = 1\\n" \
            "x\\' = -x\\nobjective J = final(x)\\n').sens(); print(_server.current().pid)"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(out.stderr, "")
        if os.path.exists("/proc"):
            self.assertFalse(os.path.exists(f"/proc/{out.stdout.strip()}"))

    def test_no_command(self):
        code = "import odes; odes.Model('model M\\n')"
        env = {**os.environ, "ODES_BINARY": "/nowhere/odes"}
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        self.assertIn("cannot start /nowhere/odes", out.stderr)

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "there is no /proc")
    def test_calls_do_not_grow(self):
        calls = int(os.environ.get("ODES_CALLS", "3000"))
        m = odes.Model(BOUNCE)

        def sizes():
            pages = [int(Path(f"/proc/{p}/statm").read_text().split()[1]) for p in ("self", _server.current().pid)]
            return np.array(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6

        def some(n):
            for i in range(n):
                m.sens(g=9 + i % 10 / 10, trust=False)

        some(2000)
        for _ in range(3):  # a collector may not be done with some; what leaks grows each time
            before = sizes()
            some(calls)
            grown = sizes() - before
            if calls > 10_000:
                print("after", calls, "calls, MB before:", before, "grown by:", grown)
            if grown[0] < 8 and grown[1] < 24:
                break
        self.assertLess(grown[0], 8)
        self.assertLess(grown[1], 24)


def _cpu(pid):
    """Seconds of processor that a process has used; 0 where that is not known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()
