"""How long gradients take from Python, beside Diffrax and pydiffsol, where these are installed.

    python3 python/bench/latency.py            prints a table
    python3 python/bench/latency.py --write    writes it into docs/benchmarks.md

All compute the gradient of one number by all params of a small model, with the same tolerances and methods of like
order. Params differ from call to call. The ways take turns, so that other load on the machine meets all of them; the
least time of a call is that without it. The errors are relative to a run of odes with rtol 1e-12.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import odes

TURNS, CALLS, BATCH = 30, 10, 512

PROBLEMS = {
    "Lotka–Volterra": {
        "about": "2 states, 4 params, rtol 1e-8, atol 1e-10, explicit methods of order 5",
        "params": {"a": 1.5, "b": 1.0, "c": 3.0, "d": 1.0},
        "states": {"x": 1.0, "y": 1.0},
        "rates": ["a*x - b*x*y", "-c*y + d*x*y"],
        "end": 10.0,
        "rtol": 1e-8,
        "atol": 1e-10,
        "methods": {"odes": "dopri5", "diffrax": "Dopri5", "pydiffsol": "tsit45"},
    },
    "Robertson": {
        "about": "3 states, 3 params, stiff, to t = 40, rtol 1e-6, atol 1e-10, implicit methods",
        "params": {"a": 0.04, "b": 3e7, "c": 1e4},
        "states": {"x": 1.0, "y": 0.0, "z": 0.0},
        "rates": ["-a*x + c*y*z", "a*x - c*y*z - b*y*y", "b*y*y"],
        "end": 40.0,
        "rtol": 1e-6,
        "atol": 1e-10,
        "methods": {"odes": "rodas5p", "diffrax": "Kvaerno5", "pydiffsol": "bdf"},
    },
}

Ready = tuple[Callable[[Any], Any], Callable[[Any], Any]]  # of a point [n], and of points [k, n]


def text(p: dict[str, Any]) -> str:
    lines = ["model M", f"time t from 0 to {p['end']}"]
    lines += [f"param {k} = {v}" for k, v in p["params"].items()]
    lines += [f"state {k} = {v}" for k, v in p["states"].items()]
    lines += [f"{k}' = {rate}" for k, rate in zip(p["states"], p["rates"])]
    first = next(iter(p["states"]))
    lines += [f"objective J = final({first})", f"sens {{ wrt = [{', '.join(p['params'])}] }}"]
    lines += [f"solver {{ method = {p['methods']['odes']}  rtol = {p['rtol']}  atol = {p['atol']} }}"]
    return "\n".join(lines) + "\n"


def by_odes(p: dict[str, Any], trust: bool = False) -> Ready:
    m = odes.Model(text(p))
    names = list(p["params"])

    def one(x: Any) -> Any:
        return m.sens(**dict(zip(names, x)), trust=trust).gradient[0]

    def many(xs: Any) -> Any:
        return m.ensemble(rows=dict(zip(names, xs.T)), trust=trust)._arrays["gradient"][:, 0]

    return one, many


def by_odes_compared(p: dict[str, Any]) -> Ready:
    return by_odes(p, trust=True)


def by_diffrax(p: dict[str, Any]) -> Ready:
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    code = compile("[" + ", ".join(p["rates"]) + "]", "rates", "eval")
    y0 = jnp.array(list(p["states"].values()))

    def rhs(t: Any, y: Any, x: Any) -> Any:
        return jnp.array(eval(code, dict(zip(p["states"], y)) | dict(zip(p["params"], x))))

    def last(x: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rhs), getattr(diffrax, p["methods"]["diffrax"])(), 0.0, p["end"], None, y0, x,
            stepsize_controller=diffrax.PIDController(rtol=p["rtol"], atol=p["atol"]),
            saveat=diffrax.SaveAt(t1=True),
        ).ys[0, 0]

    one = jax.jit(jax.value_and_grad(last))
    many = jax.jit(jax.vmap(jax.value_and_grad(last)))
    return lambda x: np.asarray(one(x)[1]), lambda xs: np.asarray(many(xs)[1])


def by_pydiffsol(p: dict[str, Any]) -> Ready:
    import pydiffsol

    def listed(items: Any) -> str:
        return ", ".join(f"{k}={v}" for k, v in items)

    code = f"in_i {{ {listed(p['params'].items())} }}\nu_i {{ {listed(p['states'].items())} }}\n" \
        f"F_i {{ {', '.join(p['rates'])} }}\n"
    ode = pydiffsol.Ode(code, ode_solver=getattr(pydiffsol.OdeSolverType, p["methods"]["pydiffsol"]))
    ode.rtol = ode.sens_rtol = p["rtol"]
    ode.atol = ode.sens_atol = p["atol"]
    end = np.array([p["end"]])

    def one(x: Any) -> Any:
        return np.ravel([s[0] for s in ode.solve_fwd_sens(x, end).sens])

    return one, lambda xs: np.array([one(x) for x in xs])


WAYS: dict[str, tuple[str, Callable[[dict[str, Any]], Ready]]] = {
    "odes": ("odes", by_odes),
    "odes, compared with an independent run": ("odes", by_odes_compared),
    "Diffrax under `jit`, adjoint": ("diffrax", by_diffrax),
    "pydiffsol, forward": ("pydiffsol", by_pydiffsol),
}


def measure(p: dict[str, Any]) -> list[str]:
    """The rows of a table."""
    x0 = np.array(list(p["params"].values()))
    fine = by_odes({**p, "rtol": 1e-12, "atol": 1e-14, "methods": {"odes": "radau5"}}) if p["rtol"] > 1e-7 else by_odes(
        {**p, "rtol": 1e-13, "atol": 1e-14, "methods": {"odes": "vern9"}})
    reference = fine[0](x0)
    ready, first, error = {}, {}, {}
    for name, (_, make) in WAYS.items():
        begin = time.perf_counter()
        try:
            ready[name] = make(p)
        except ImportError:
            continue
        gradient = ready[name][0](x0)
        first[name] = time.perf_counter() - begin
        error[name] = np.abs(gradient / reference - 1).max()
    points = x0 * (1 + 1e-3 * np.random.default_rng(1).random((BATCH, x0.size)))
    single: dict[str, list[float]] = {name: [] for name in ready}
    batch: dict[str, list[float]] = {name: [] for name in ready}
    for turn in range(TURNS):
        for name, (one, many) in ready.items():
            for i in range(CALLS):
                begin = time.perf_counter()
                one(points[turn * CALLS + i])
                single[name].append(time.perf_counter() - begin)
            if turn < 5:
                if turn == 0:
                    many(points)
                begin = time.perf_counter()
                many(points)
                batch[name].append((time.perf_counter() - begin) / BATCH)
    rows = []
    for name in ready:
        package = WAYS[name][0]
        numbers = (f"{first[name]:.2g} s", *(f"{1e3 * t:.3g}" for t in (
            min(single[name]), np.median(single[name]), min(batch[name]))), f"{error[name]:.0e}")
        rows.append(f"| {name} | `{p['methods'][package]}` | " + " | ".join(numbers) + " |")
    return rows


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def section() -> str:
    odes.version()  # starts the process
    load = os.getloadavg()[0]
    lines = [
        "## From Python",
        "",
        f"Written by `python/bench/latency.py --write` on {datetime.date.today()}, with odes {odes.version()}, JAX "
        f"{version('jax')},",
        f"Diffrax {version('diffrax')}, pydiffsol {version('pydiffsol')} and Python {sys.version.split()[0]}, at a load "
        f"of {load:.1f} on {os.cpu_count()} cores.",
        "",
        "The table has times of a gradient of one number by all params, whose values differ from call to call. The ways "
        "take",
        "turns of ten calls, thirty times. *First* is the time of the first gradient, including all preparation. *Least* "
        "and",
        f"*median* are of single calls. *Of many* is the least time of a gradient when {BATCH} points are computed at "
        "once: by an",
        "ensemble of odes, by `vmap` of Diffrax, by a loop with pydiffsol. Errors are those of the first gradient. Their",
        "reference is a run of odes with tolerances near rounding.",
        "",
    ]
    for name, p in PROBLEMS.items():
        lines += [f"{name}: {p['about']}.", "",
                  "| | method | first | least ms | median ms | of many, ms | relative error |",
                  "|---|---|---:|---:|---:|---:|---:|", *measure(p), ""]
    return "\n".join(lines)


def main() -> None:
    page = section()
    print(page)
    if "--write" in sys.argv[1:]:
        path = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
        old = re.sub(r"\n## From Python\n.*?(?=\n## |\Z)", "", path.read_text(encoding="utf-8"), flags=re.S)
        path.write_text(old.rstrip("\n") + "\n\n" + page, encoding="utf-8")


if __name__ == "__main__":
    main()
