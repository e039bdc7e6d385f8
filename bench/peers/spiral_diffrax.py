"""Trains the networks of examples/spiral and of its larger kin with diffrax and optax, and with odes, in turn.

    python bench/peers/spiral_diffrax.py ODES [EPOCHS] [TURNS]

Both make the same steps of Adam along the gradient of the same negative log likelihood with priors, at rtol 1e-6. diffrax
solves by Dopri5 with its adaptive steps and the default adjoint, in 64 bits, on one thread of the CPU; its time is
without compilation. That of odes is the one it tells for its searches, without their second part.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_ENABLE_X64"] = "1"

import diffrax  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402

here = os.path.dirname(os.path.abspath(__file__))
folder = os.path.join(here, "..", "..", "examples", "spiral")
odes, epochs, turns = sys.argv[1], int((sys.argv + ["120"])[2]), int((sys.argv + ["", "3"])[3])
data = np.genfromtxt(os.path.join(folder, "spiral.csv"), delimiter=",", names=True)


def model(hidden):
    """The text of the example with so many hidden units."""
    with open(os.path.join(folder, "spiral.ode")) as f:
        return re.sub(r"\b12\b", str(hidden), f.read())


def weights(path):
    """The weights that odes begins with."""
    out = subprocess.run([odes, "sens", path, "-q", "--format", "json"], capture_output=True, text=True, check=False)
    first = json.loads(out.stdout)["objectives"][0]
    fitted = subprocess.run([odes, "fit", path, "-q", "--format", "json", "--fit.epochs=1", "--fit.max_iter=1"],
                            capture_output=True, text=True, check=False)
    answer = json.loads(fitted.stdout)
    arrays = {name: np.zeros(np.shape(g)) for name, g in first["params"].items()}
    for e, x in zip(answer["estimates"], answer["starts"][0]["from"]):
        arrays[e["name"]][tuple(i - 1 for i in e["index"])] = x
    return arrays, first["value"]


def field(t, u, w):
    return w["W2"] @ jnp.tanh(w["W1"] @ u**3 + w["b1"]) + w["b2"]


term, solver = diffrax.ODETerm(field), diffrax.Dopri5()
seen = jnp.stack([data["x"], data["y"]], axis=1)
at = diffrax.SaveAt(ts=jnp.array(data["time"]))
control = diffrax.PIDController(rtol=1e-6, atol=1e-9)


def loss(w):
    sol = diffrax.diffeqsolve(term, solver, 0.0, 1.5, None, jnp.array([2.0, 0.0]), w, saveat=at,
                              stepsize_controller=control, max_steps=4096)
    nll = jnp.sum(((sol.ys - seen) / 0.05) ** 2 / 2 + jnp.log(0.05 * jnp.sqrt(2 * jnp.pi)))
    return nll + sum(jnp.sum(v**2 / 2 + jnp.log(jnp.sqrt(2 * jnp.pi))) for v in jax.tree.leaves(w))


def train(w):
    adam = optax.adam(lambda k: 0.1 * 0.1 ** (k / epochs))
    state = adam.init(w)

    @jax.jit
    def step(w, state):
        value, g = jax.value_and_grad(loss)(w)
        change, state = adam.update(g, state, w)
        return optax.apply_updates(w, change), state, value

    step(w, state)[2].block_until_ready()
    begun = time.perf_counter()
    value = None
    for _ in range(epochs):
        before = value
        w, state, value = step(w, state)
    value.block_until_ready()
    return time.perf_counter() - begun, float(before)


print("| hidden units | weights | diffrax, ms a step | odes, ms a step | value after the last step but one: diffrax | odes |\n|---|---|---|---|---|---|")
for hidden in (12, 50):
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "model.ode")
        with open(path, "w") as f:
            f.write(model(hidden))
        with open(os.path.join(tmp, "spiral.csv"), "wb") as f, open(os.path.join(folder, "spiral.csv"), "rb") as g:
            f.write(g.read())
        start, value = weights(path)
        w = {k: jnp.array(v) for k, v in start.items()}
        assert abs(float(loss(w)) - value) < 1e-4 * abs(value), (float(loss(w)), value)
        theirs, ours, last, end = [], [], 0.0, 0.0
        for _ in range(turns):
            t, last = train(w)
            theirs.append(t)
            log = os.path.join(tmp, "log.jsonl")
            subprocess.run([odes, "fit", path, "-q", f"--fit.epochs={epochs}", "--fit.max_iter=1", "--log", log,
                            "--workers", "1", "-o", os.path.join(tmp, "out.json")], capture_output=True, check=False)
            lines = [json.loads(line) for line in open(log)][:epochs]
            ours.append(lines[-1]["seconds"] - lines[0]["seconds"])
            end = lines[-2]["value"]
        n = sum(np.size(v) for v in start.values())
        ms = 1e3 / epochs
        print(f"| {hidden} | {n} | {min(theirs) * ms:.2f} | {min(ours) * ms:.2f} | {last:.8g} | {end:.8g} |", flush=True)
