"""Times 20,000 gradients of Lotka-Volterra, each of other parameters, beside diffrax (vmap) and SciPy (a loop).

    python bench/ensemble_peers.py ODES [members]

ODES is the command. All use one thread, Dormand-Prince 5(4) and tolerances of 1e-8; times are of the processor, without
compiling. diffrax computes reverse-mode gradients of one batch; SciPy integrates the six forward sensitivities of some
members, with a right-hand side in NumPy, and its time is for as many members as the others have.
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

jax.config.update("jax_enable_x64", True)

MODEL = """
time t from 0 to 10
param a = 1.5 ~ lognormal(0.4, 0.1)
param b = 1 ~ lognormal(0, 0.1)
param c = 3 ~ lognormal(1.1, 0.1)
param d = 1 ~ lognormal(0, 0.1)
state x = 1
state y = 1
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective J = final(x) + final(y)
solver { method = dopri5  rtol = 1e-8  atol = 1e-8 }
"""
TOL = 1e-8


def by_odes(command, folder, members):
    """Returns seconds without starting, parameters [members, 4] and gradients [members, 6]."""
    model, table = os.path.join(folder, "lv.ode"), os.path.join(folder, "out.csv")
    with open(model, "w") as f:
        f.write(MODEL)

    def run(n, *more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([command, "ensemble", model, "-q", "--threads", "1", "-n", str(n), *more], check=True,
                       stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    seconds = min(run(members) - run(1) for _ in range(3))
    run(members, "-o", table)
    with open(table) as f:
        rows = list(csv.DictReader(f))
    names = list(rows[0])
    slopes = [n for n in names if n.startswith("d(")]
    params = np.array([[float(r[n]) for n in "abcd"] for r in rows])
    return seconds, params, np.array([[float(r[n]) for n in slopes] for r in rows])


def by_diffrax(params):
    """Returns seconds and gradients [members, 6], by parameters and then by initial values."""

    def objective(p):
        def rates(t, s, args):
            x, y = s
            return jnp.stack([p[0] * x - p[1] * x * y, -p[2] * y + p[3] * x * y])

        out = diffrax.diffeqsolve(
            diffrax.ODETerm(rates), diffrax.Dopri5(), 0.0, 10.0, None, p[4:], max_steps=1024,
            stepsize_controller=diffrax.PIDController(rtol=TOL, atol=TOL), saveat=diffrax.SaveAt(t1=True))
        return jnp.sum(out.ys[-1])

    gradients = jax.jit(jax.vmap(jax.grad(objective)))
    batch = jnp.concatenate([jnp.asarray(params), jnp.ones((len(params), 2))], axis=1)
    gradients(batch).block_until_ready()
    start = time.process_time()
    out = gradients(batch).block_until_ready()
    return time.process_time() - start, np.asarray(out)


def by_scipy(params):
    """Returns seconds and gradients [members, 6]."""

    def rates(t, s, a, b, c, d):
        x, y, s = s[0], s[1], s[2:].reshape(2, 6)
        out = np.empty((2, 7))
        out[:, 0] = a * x - b * x * y, -c * y + d * x * y
        out[:, 1:] = np.array([[a - b * y, -b * x], [d * y, d * x - c]]) @ s
        out[0, 1] += x
        out[0, 2] -= x * y
        out[1, 3] -= y
        out[1, 4] += x * y
        return np.concatenate([out[:, 0], out[:, 1:].ravel()])

    first = np.concatenate([[1, 1], np.hstack([np.zeros((2, 4)), np.eye(2)]).ravel()])
    start = time.process_time()
    out = [solve_ivp(rates, (0, 10), first, rtol=TOL, atol=TOL, args=tuple(p)).y[2:, -1] for p in params]
    return time.process_time() - start, np.array(out).reshape(-1, 2, 6).sum(axis=1)


def main():
    members = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    with tempfile.TemporaryDirectory() as folder:
        seconds, params, want = by_odes(sys.argv[1], folder, members)
    print(f"odes     {seconds:9.2f} s  {1e6 * seconds / members:9.1f} us a member")
    some = min(members, 100)
    for name, run, n in (("diffrax", by_diffrax, members), ("SciPy", by_scipy, some)):
        took, got = run(params[:n])
        off = np.max(np.abs(got - want[:n]) / np.max(np.abs(want[:n]), axis=0))
        took *= members / n
        print(f"{name:8} {took:9.2f} s  {1e6 * took / members:9.1f} us a member, {took / seconds:6.1f} times odes; "
              f"gradients differ by {off:.1e}")


main()
