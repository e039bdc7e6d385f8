"""Fits that start far away, beside SciPy's least_squares and CasADi with IPOPT, in turns from the same starts.

    python bench/peers/shooting_peers.py ODES [STARTS] [CASE …]

Three problems of chemistry of the collection COPS 3.0 (Dolan, Moré, Munson, ANL/MCS-TM-273): isomerisation of α-pinene,
methanol to hydrocarbons, catalytic cracking of gas oil. Rate constants begin log-uniformly between 0.05 and 50.

- odes: fit { shooting = D.time } at rtol 1e-8, and the same without shooting; the time that it tells for the search.
- SciPy: least_squares (trf, bounds, x_scale "jac", central differences) over whole runs by LSODA at rtol 1e-10.
- CasADi: multiple shooting with nodes at the times of data, which begin with the data, 40 classical Runge–Kutta steps
  between two; IPOPT with exact second derivatives and a tolerance of 1e-10. Without what it takes to build the program.

All on one thread. Each answer is judged by the same run of SciPy (DOP853, rtol 1e-12): it has reached the minimum if
the sum of squares is that of the best answer to 1e-6. A program that is not installed is left out.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
from scipy.integrate import solve_ivp  # noqa: E402
from scipy.optimize import least_squares  # noqa: E402

try:
    import casadi as ca
except ImportError:
    ca = None

warnings.simplefilter("ignore")
LOW, HIGH = 1e-6, 1000.0

CASES = {
    "pinene": {
        "params": ["q1", "q2", "q3", "q4", "q5"], "states": ["y1", "y2", "y3", "y4", "y5"], "first": [100, 0, 0, 0, 0],
        "rates": ["-(q1 + q2)*y1/10000", "q1*y1/10000", "(q2*y1 - (q3 + q4)*y3 + q5*y5)/10000", "q3*y3/10000",
                  "(q4*y3 - q5*y5)/10000"],
        "sd": 1, "times": [1230, 3060, 4920, 7800, 10680, 15030, 22620, 36420],
        "data": [[88.35, 76.4, 65.1, 50.4, 37.5, 25.9, 14, 4.5], [7.3, 15.6, 23.1, 32.9, 42.7, 49.1, 57.4, 63.1],
                 [2.3, 4.5, 5.3, 6, 6, 5.9, 5.1, 3.8], [0.4, 0.7, 1.1, 1.5, 1.9, 2.2, 2.6, 2.9],
                 [1.75, 2.8, 5.8, 9.3, 12, 17, 21, 25.7]],
    },
    "methanol": {
        "params": ["q1", "q2", "q3", "q4", "q5"], "states": ["y1", "y2", "y3"], "first": [1, 0, 0],
        "rates": ["-(2*q2 - q1*y2/((q2 + q5)*y1 + y2) + q3 + q4)*y1",
                  "q1*y1*(q2*y1 - y2)/((q2 + q5)*y1 + y2) + q3*y1", "q1*y1*(y2 + q5*y1)/((q2 + q5)*y1 + y2) + q4*y1"],
        "sd": 0.01, "times": [0.05, 0.065, 0.08, 0.123, 0.233, 0.273, 0.354, 0.397, 0.418, 0.502, 0.553, 0.681, 0.75,
                              0.916, 0.937, 1.122],
        "data": [[0.7085, 0.5971, 0.5537, 0.3684, 0.1712, 0.1198, 0.0747, 0.0529, 0.0415, 0.0261, 0.0208, 0.0085,
                  0.0053, 0.0019, 0.0018, 0.0006],
                 [0.1621, 0.1855, 0.1989, 0.2845, 0.3491, 0.3098, 0.3576, 0.3347, 0.3388, 0.3557, 0.3483, 0.3836,
                  0.3611, 0.3609, 0.3485, 0.3698],
                 [0.0811, 0.0965, 0.1198, 0.1535, 0.2097, 0.2628, 0.2467, 0.2884, 0.2757, 0.3167, 0.2954, 0.2950,
                  0.2937, 0.2831, 0.2846, 0.2899]],
    },
    "gasoil": {
        "params": ["q1", "q2", "q3"], "states": ["y1", "y2"], "first": [1, 0],
        "rates": ["-(q1 + q3)*y1*y1", "q1*y1*y1 - q2*y2"],
        "sd": 0.01, "times": [0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5,
                              0.55, 0.65, 0.75, 0.85, 0.95],
        "data": [[0.8105, 0.6208, 0.5258, 0.4345, 0.3903, 0.3342, 0.3034, 0.2735, 0.2405, 0.2283, 0.2071, 0.1669, 0.153,
                  0.1339, 0.1265, 0.12, 0.099, 0.087, 0.077, 0.069],
                 [0.2, 0.2886, 0.301, 0.3215, 0.3123, 0.2716, 0.2551, 0.2258, 0.1959, 0.1789, 0.1457, 0.1198, 0.0909,
                  0.0719, 0.0561, 0.046, 0.028, 0.019, 0.014, 0.01]],
    },
}


class Case:
    def __init__(self, name):
        c = CASES[name]
        self.name, self.params, self.states, self.sd = name, c["params"], c["states"], c["sd"]
        self.first, self.times, self.data = np.array(c["first"], float), np.array(c["times"]), np.array(c["data"])
        self.texts = c["rates"]
        self.code = compile("(" + ", ".join(c["rates"]) + ")", name, "eval")

    def rates(self, y, q):
        return eval(self.code, {**dict(zip(self.states, y)), **dict(zip(self.params, q))})

    def residuals(self, q, method, rtol):
        run = solve_ivp(lambda t, y: self.rates(y, q), (0, self.times[-1]), self.first, method=method, rtol=rtol,
                        atol=rtol * 1e-2, t_eval=self.times)
        if not run.success or run.y.shape != self.data.shape:
            return np.full(self.data.size, 1e3)
        return ((run.y - self.data) / self.sd).ravel()

    def squares(self, q):
        return np.inf if q is None else float(np.sum(self.residuals(q, "DOP853", 1e-12) ** 2))

    def text(self, shooting):
        lines = [f"model {self.name}", f"time t from 0 to {float(self.times[-1])!r}"]
        lines += [f"param {p} = 1 in [{LOW!r}, {HIGH!r}]" for p in self.params]
        lines += [f"state {s} = {x!r}" for s, x in zip(self.states, self.first.tolist())]
        lines += [f"{s}' = {r}" for s, r in zip(self.states, self.texts)]
        lines += ["data D {", f"  time = {self.times.tolist()}"]
        lines += [f"  {s}_seen = {row}" for s, row in zip(self.states, self.data.tolist())] + ["}"]
        lines += [f"observe o_{s} = {s} ~ normal({self.sd!r}) from D.{s}_seen" for s in self.states]
        over = ", ".join(self.params)
        return "\n".join(lines) + (f"\nobjective L = nll()\nfit {{ minimize = L  over = [{over}]  intervals = none  "
                                   f"shooting = {shooting} }}\n"
                                   "solver { rtol = 1e-8 }\n")


def by_odes(case, odes, folder, start, shooting):
    path = os.path.join(folder, case.name + ".ode")
    with open(path, "w") as f:
        f.write(case.text(shooting))
    out = subprocess.run(
        [odes, "fit", path, "--format", "json", "-q", "--solver.threads=1"]
        + [f"--set={p}={x!r}" for p, x in zip(case.params, start)], capture_output=True, text=True, check=False)
    try:
        answer = json.loads(out.stdout)
    except ValueError:
        return None, float("nan")
    found = {e["name"]: e["value"] for e in answer["estimates"]}
    return [found[p] for p in case.params], answer["starts"][0]["seconds"]


def by_scipy(case, start):
    began = time.perf_counter()
    try:
        q = least_squares(lambda q: case.residuals(q, "LSODA", 1e-10), start, jac="3-point", diff_step=1e-5,
                          bounds=(LOW, HIGH), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12).x
    except (ValueError, ArithmeticError):
        q = None
    return q, time.perf_counter() - began


class ByCasadi:
    def __init__(self, case, steps=40):
        n, m, p = len(case.states), len(case.times), len(case.params)
        x, q, h = ca.SX.sym("x", n), ca.SX.sym("q", p), ca.SX.sym("h")
        f = lambda y: ca.vertcat(*case.rates(ca.vertsplit(y), ca.vertsplit(q)))
        at, dt = x, h / steps
        for _ in range(steps):
            k1 = f(at)
            k2 = f(at + dt / 2 * k1)
            k3 = f(at + dt / 2 * k2)
            at = at + dt / 6 * (k1 + 2 * k2 + 2 * k3 + f(at + dt * k3))
        piece = ca.Function("piece", [x, q, h], [at])
        Q, X = ca.MX.sym("Q", p), ca.MX.sym("X", n, m)
        spans = np.diff(np.concatenate([[0], case.times]))
        gaps = [piece(ca.DM(case.first) if i == 0 else X[:, i - 1], Q, float(spans[i])) - X[:, i] for i in range(m)]
        cost = ca.sumsqr((X - ca.DM(case.data)) / case.sd) / 2
        self.p, self.nodes = p, case.data.T.ravel()
        self.solver = ca.nlpsol("s", "ipopt", {"x": ca.vertcat(Q, ca.vec(X)), "f": cost, "g": ca.vertcat(*gaps)}, {
            "print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10, "max_iter": 1000}})
        self.low = [LOW] * p + [-np.inf] * (n * m)
        self.high = [HIGH] * p + [np.inf] * (n * m)

    def __call__(self, start):
        began = time.perf_counter()
        x = self.solver(x0=np.concatenate([start, self.nodes]), lbx=self.low, ubx=self.high, lbg=0, ubg=0)["x"]
        return np.array(x).ravel()[: self.p], time.perf_counter() - began


def main():
    odes, count = sys.argv[1], int((sys.argv + ["10"])[2])
    print("| problem | program | reached the minimum | median, ms | slowest, ms |\n|---|---|---|---|---|")
    for name in sys.argv[3:] or CASES:
        case = Case(name)
        rng = np.random.default_rng(55)
        with tempfile.TemporaryDirectory() as folder:
            programs = {
                "odes, `shooting = D.time`": lambda s: by_odes(case, odes, folder, s, "D.time"),
                "odes, whole runs": lambda s: by_odes(case, odes, folder, s, "off"),
                "SciPy, whole runs": lambda s: by_scipy(case, s),
            }
            if ca is not None:
                programs["CasADi with IPOPT"] = ByCasadi(case)
            answers = {p: [] for p in programs}
            for _ in range(count):
                start = np.exp(rng.uniform(np.log(0.05), np.log(50), len(case.params))).tolist()
                for p, run in programs.items():
                    q, seconds = run(start)
                    answers[p].append((case.squares(q), seconds))
        best = min(s for a in answers.values() for s, _ in a)
        for p, a in answers.items():
            times = [1e3 * t for _, t in a]
            good = sum(s <= best + 1e-6 * best for s, _ in a)
            row = f"| {name} | {p} | {good} of {count} | {statistics.median(times):.1f} | {max(times):.1f} |"
            print(row, flush=True)
        print(f"{name}: least sum of squares {best * case.sd**2:.10g}", file=sys.stderr)


main()
