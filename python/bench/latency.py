"""How long a gradient takes from Python, beside Diffrax and pydiffsol, where these are installed.

    python3 python/bench/latency.py

The model is that of Lotka and Volterra: the gradient of x(10) by four params, with rtol 1e-8 and atol 1e-10 and
explicit methods of order 5. Params differ from call to call.
"""

import time

import numpy as np

import odes

P0 = np.array([1.5, 1, 3, 1])

MODEL = """model LotkaVolterra
time t from 0 to 10
param a = 1.5, b = 1, c = 3, d = 1
state x = 1, y = 1
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective J = final(x)
solver { method = dopri5  rtol = 1e-8  atol = 1e-10 }
sens { wrt = [a, b, c, d] }
"""


def by_odes(trust):
    def ready():
        m = odes.Model(MODEL)
        return lambda p: m.sens(a=p[0], b=p[1], c=p[2], d=p[3], trust=trust).gradient[0]

    return ready


def by_diffrax():
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def rhs(t, y, p):
        return jnp.array([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])

    def last(p):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rhs), diffrax.Dopri5(), 0.0, 10.0, None, jnp.array([1.0, 1.0]), p,
            stepsize_controller=diffrax.PIDController(rtol=1e-8, atol=1e-10), saveat=diffrax.SaveAt(t1=True),
        ).ys[0, 0]

    f = jax.jit(jax.value_and_grad(last))
    return lambda p: jax.block_until_ready(f(p))[1]


def by_pydiffsol():
    import pydiffsol

    code = "in_i { a=1.5, b=1, c=3, d=1 }\nu_i { x=1, y=1 }\nF_i { a*x - b*x*y, -c*y + d*x*y }\n"
    ode = pydiffsol.Ode(code, ode_solver=pydiffsol.OdeSolverType.tsit45)
    ode.rtol = ode.sens_rtol = 1e-8
    ode.atol = ode.sens_atol = 1e-10
    end = np.array([10.0])
    return lambda p: np.ravel([s[0] for s in ode.solve_fwd_sens(p, end).sens])


def main(calls=500):
    print(f"{'':26}{'first':>10}{'median':>10}{'fastest tenth':>15}  gradient")
    ways = {
        "odes": by_odes(False), "odes, compared": by_odes(True), "Diffrax": by_diffrax,
        "pydiffsol (forward)": by_pydiffsol,
    }
    odes.version()  # starts the process
    for name, ready in ways.items():
        try:
            begin = time.perf_counter()
            f = ready()
            gradient = f(P0)
            first = time.perf_counter() - begin
        except ImportError as e:
            print(f"{name:26}{e.name} is not installed")
            continue
        times = []
        for i in range(calls):
            p = P0 * (1 + 1e-4 * (i % 7))
            begin = time.perf_counter()
            f(p)
            times.append(time.perf_counter() - begin)
        times.sort()
        us = [f"{1e6 * t:.0f} us" for t in (times[calls // 2], times[calls // 10])]
        print(f"{name:26}{first:8.2f} s{us[0]:>10}{us[1]:>15}  {np.array2string(np.asarray(gradient), precision=6)}")


if __name__ == "__main__":
    main()
