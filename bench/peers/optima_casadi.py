"""Problems of optimal control beside CasADi with IPOPT.

    python optima_casadi.py OPTIMA.json ODES [id …]

OPTIMA.json lists problems: a text for odes, and the same as data for programs. Here they are solved by multiple
shooting on the same grid of the control, with rk_steps steps of the classical Runge–Kutta method in each piece; path
constraints hold after each of these steps. IPOPT has exact second derivatives, a tolerance of 1e-9 and MUMPS. Both
begin at the same values: the states of the nodes are those of a run with them. Times are seconds of CPU on one core,
which other work on the machine hardly changes: IPOPT's of its search, without building the problem, those of odes of
the whole command. The table has medians over the starts. What odes ends with is told apart: the best optimum, another
listed one, no feasible point, partial, and what is "ok" elsewhere, which is an error and ends the script with status 1.
"""

import collections
import json
import math
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import casadi as ca

FUNCTIONS = {"sin": ca.sin, "cos": ca.cos, "exp": ca.exp, "sqrt": ca.sqrt}


def value(text, names):
    return eval(str(text).replace("^", "**"), {"__builtins__": {}}, {**FUNCTIONS, **names})


class Problem:
    """A problem as a nonlinear program."""

    def __init__(self, model):
        self.model = model
        self.pieces = model["pieces"]
        self.linear = model["piecewise"] == "linear"
        self.free = isinstance(model["T"], list)
        self.states = model["equations_order"]
        self.controls = list(model["controls"])
        self.integrals = re.findall(r"integral\(((?:[^()]|\([^()]*\))*)\)", model["objective"])
        self.build()

    def names(self, x, u):
        names = {**self.model["parameters"], **dict(zip(self.states, ca.vertsplit(x)))}
        names.update(zip(self.controls, ca.vertsplit(u)))
        for name, text in self.model["lets"]:
            names[name] = value(text, names)
        return names

    def rates(self, x, u):
        names = self.names(x, u)
        out = [value(self.model["equations"][s + "'"], names) for s in self.states]
        return ca.vertcat(*out, *[value(text, names) for text in self.integrals])

    def build(self):
        m, n, k = self.model, len(self.states) + len(self.integrals), len(self.controls)
        x, a, b, h = ca.SX.sym("x", n), ca.SX.sym("a", k), ca.SX.sym("b", k), ca.SX.sym("h")
        steps, at, path = m["rk_steps"], x, []
        dt = h / steps
        for i in range(steps):
            u = lambda c: a + (b - a) * ((i + c) / steps)
            f = lambda y, c: self.rates(y[: len(self.states)], u(c))
            k1 = f(at, 0)
            k2 = f(at + dt / 2 * k1, 0.5)
            k3 = f(at + dt / 2 * k2, 0.5)
            at = at + dt / 6 * (k1 + 2 * k2 + 2 * k3 + f(at + dt * k3, 1))
            names = self.names(at[: len(self.states)], u(1))
            path += [value(p["max_over"], names) - p["at_most"] for p in m["path_constraints"]]
        self.piece = ca.Function("piece", [x, a, b, h], [at, ca.vertcat(*path)])
        knots = self.pieces + (1 if self.linear else 0)
        T, U, X = ca.MX.sym("T"), ca.MX.sym("U", k, knots), ca.MX.sym("X", n, self.pieces + 1)
        g, lo, hi = [X[:, 0] - self.first()], [0.0] * n, [0.0] * n
        for i in range(self.pieces):
            end, inside = self.piece(X[:, i], U[:, i], U[:, i + 1 if self.linear else i], T / self.pieces)
            g.append(X[:, i + 1] - end)
            lo, hi = lo + [0.0] * n, hi + [0.0] * n
            if m["path_constraints"]:
                g.append(inside)
                lo, hi = lo + [-math.inf] * inside.shape[0], hi + [0.0] * inside.shape[0]
        names = {**dict(zip(self.states, ca.vertsplit(X[: len(self.states), -1]))), **m["parameters"]}
        final = lambda text: value(text, {**names, "T": T, "final": lambda v: v})
        for c in m["constraints"]:
            g.append(final(c["of"]) - c["value"])
            lo.append(-math.inf if c["relation"] == "<=" else 0.0)
            hi.append(math.inf if c["relation"] == ">=" else 0.0)
        objective = m["objective"]
        for i, text in enumerate(self.integrals):
            objective = objective.replace(f"integral({text})", f"quadrature{i}")
            names[f"quadrature{i}"] = X[len(self.states) + i, -1]
        J = final(objective)
        self.sign = -1 if m["maximize"] else 1
        w = ca.vertcat(T, ca.vec(U), ca.vec(X))
        options = {
            "print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-9, "max_iter": 1000},
        }
        self.solver = ca.nlpsol("solver", "ipopt", {"x": w, "f": self.sign * J, "g": ca.vertcat(*g)}, options)
        span = m["T"] if self.free else [m["T"], m["T"]]
        bounds = [m["controls"][c] for c in self.controls] * knots
        rest = [math.inf] * (n * (self.pieces + 1))
        self.bounds = {
            "lbx": [span[0]] + [b[0] for b in bounds] + [-v for v in rest],
            "ubx": [span[1]] + [b[1] for b in bounds] + rest, "lbg": lo, "ubg": hi,
        }

    def first(self):
        return ca.DM([float(value(self.model["states"][s], self.model["parameters"])) for s in self.states]
                     + [0.0] * len(self.integrals))

    def start(self, given):
        knots = self.pieces + (1 if self.linear else 0)
        T = float(given.get("T", self.model["T"] if not self.free else sum(self.model["T"]) / 2))
        rows = []
        for c in self.controls:
            v = given.get(c, 0)
            v = json.loads(v) if isinstance(v, str) else v
            rows.append(v if isinstance(v, list) else [float(v)] * knots)
        columns = [[row[i] for row in rows] for i in range(knots)]
        x = [self.first()]
        for i in range(self.pieces):
            x.append(self.piece(x[-1], columns[i], columns[i + 1 if self.linear else i], T / self.pieces)[0])
        return ca.vertcat(T, *[v for c in columns for v in c], *x)

    def solve(self, given):
        x0 = self.start(given)
        began = time.process_time()
        r = self.solver(x0=x0, **self.bounds)
        seconds = time.process_time() - began
        stats = self.solver.stats()
        return self.sign * float(r["f"]), seconds, stats["iter_count"], stats["success"]


def children():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def by_odes(odes, text, given):
    began = children()
    with tempfile.NamedTemporaryFile("w", suffix=".ode") as f:
        f.write(text)
        f.flush()
        sets = [a for name, v in given.items() for a in ("--set", f"{name}={v}")]
        p = subprocess.run([odes, "fit", f.name, "--format", "json", "--workers", "1", *sets], capture_output=True)
    return json.loads(p.stdout), children() - began


def end(case, r):
    """What a search of odes came to."""
    if r["status"] != "ok":
        return "infeasible" if any("no feasible point" in w["message"] for w in r["warnings"]) else "partial"
    for i, o in enumerate(case["optima"]):
        if abs(r["objective"]["value"] - o["objective"]) <= 1e-6 * max(1e-3, abs(o["objective"])):
            return "other" if i else "best"
    return "WRONG"


def main():
    cases = json.load(open(sys.argv[1]))["cases"]
    wrong = 0
    print("| problem | starts | IPOPT reaches | iterations | ms | odes: ends | runs | ms |")
    print("|---|---|---|---|---|---|---|---|")
    for c in cases:
        if sys.argv[3:] and c["id"] not in sys.argv[3:]:
            continue
        problem = Problem(c["model"]) if c.get("model") and c["expect"] == "feasible" else None
        mine, theirs = [], []
        for given in c["starts"]:
            r, seconds = by_odes(sys.argv[2], c["text"], given)
            mine.append((end(c, r), r["stats"]["evaluations"], seconds))
            if problem:
                theirs.append(problem.solve(given))
        ends = collections.Counter(m[0] for m in mine)
        wrong += ends["WRONG"]
        if c["expect"] == "feasible":
            wrong += ends["infeasible"] + (ends["best"] < c["share"] * len(mine))
        else:
            wrong += len(mine) - ends["infeasible"]
        middle = lambda rows, k: statistics.median(row[k] for row in rows)
        row = ["", "", ""]
        if problem:
            best = c["optima"][0]["objective"]
            # Of a fixed number of steps the discretisation has an error of its own.
            near = sum(t[3] and abs(t[0] - best) <= 1e-4 * max(1e-3, abs(best)) for t in theirs)
            row = [near, f"{middle(theirs, 2):.0f}", f"{1e3 * middle(theirs, 1):.0f}"]
        told = ", ".join(f"{n} {e}" for e, n in ends.items())
        print(f"| {c['id']} | {len(mine)} | {row[0]} | {row[1]} | {row[2]} | {told} "
              f"| {middle(mine, 1):.0f} | {1e3 * middle(mine, 2):.0f} |", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
