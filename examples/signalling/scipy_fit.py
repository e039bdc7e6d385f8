"""The fit of signalling.ode with SciPy, from the starts of a result of `odes fit --format json`.

    odes fit signalling.ode --starts 100 --fit.intervals=none -o starts.json
    python3 scipy_fit.py starts.json [--starts n] [--workers n]

It prints how long the searches took in both programs, and where they ended.
"""

import argparse
import csv
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIES = ["MKKKp", "MKKp", "MKKpp", "MAPKp", "MAPKpp"]


def read_data():
    """Returns the times and values of each dose."""
    with open(os.path.join(HERE, "western.csv"), newline="") as f:
        rows = list(csv.DictReader(f))
    data = {}
    for row in rows:
        times, values = data.setdefault(float(row["dose"]), ([], []))
        times.append(float(row["time [s]"]))
        values.append([float(row[s + " [nM]"]) for s in SPECIES])
    return {dose: (np.array(t), np.array(v)) for dose, (t, v) in data.items()}


DATA = read_data()


def rates(_, y, dose, p):
    V1, KI, K1, V2, K2, k3, K3, k4, K4, V5, K5, V6, K6, k7, K7, k8, K8, V9, V10, K9 = p
    a, b, c, d, e = y
    kkk, kk, k = 100 - a, 300 - b - c, 300 - d - e
    v1 = dose * V1 * kkk / ((1 + e / KI) * (K1 + kkk))
    v2 = V2 * a / (K2 + a)
    v3 = k3 * a * kk / (K3 + kk)
    v4 = k4 * a * b / (K4 + b)
    v5 = V5 * c / (K5 + c)
    v6 = V6 * b / (K6 + b)
    v7 = k7 * c * k / (K7 + k)
    v8 = k8 * c * d / (K8 + d)
    v9 = V9 * e / (K9 + e)
    v10 = V10 * d / (K9 + d)
    return [v1 - v2, v3 - v4 - v6 + v5, v4 - v5, v7 - v8 - v10 + v9, v8 - v9]


def residuals(x):
    p = np.exp(x)
    parts = []
    for dose, (times, values) in DATA.items():
        s = solve_ivp(rates, (0, 2400), np.zeros(5), method="LSODA", t_eval=times, args=(dose, p), rtol=1e-6, atol=1e-6)
        y = s.y.T if s.success and s.y.shape[1] == len(times) else np.full(values.shape, 1e6)
        parts.append(((y - values) / 3).ravel())
    return np.concatenate(parts)


def search(start):
    lo, hi = BOUNDS
    began = time.process_time()
    r = least_squares(residuals, np.clip(np.log(start), lo + 1e-9, hi - 1e-9), bounds=(lo, hi), method="trf",
                      x_scale="jac", max_nfev=300)
    nll = r.cost + r.fun.size * (np.log(3) + 0.5 * np.log(2 * np.pi))
    return nll, time.process_time() - began


def bounds():
    lo, hi = [], []
    names = "V1 KI K1 V2 K2 k3 K3 k4 K4 V5 K5 V6 K6 k7 K7 k8 K8 V9 V10 K9".split()
    for name in names:
        a, b = {"V": (0.01, 100), "K": (0.1, 1000), "k": (1e-4, 1)}[name[0]]
        lo.append(np.log(a))
        hi.append(np.log(b))
    return np.array(lo), np.array(hi)


BOUNDS = bounds()


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("result")
    args.add_argument("--starts", type=int, default=0, help="how many; 0 means all")
    args.add_argument("--workers", type=int, default=os.cpu_count())
    args = args.parse_args()
    with open(args.result) as f:
        result = json.load(f)
    starts = sorted(result["starts"], key=lambda s: s["number"])
    starts = starts[: args.starts or len(starts)]
    best = result["objective"]["value"]
    began = time.perf_counter()
    with ProcessPoolExecutor(args.workers) as pool:
        found = list(pool.map(search, [s["from"] for s in starts]))
    wall = time.perf_counter() - began
    count = lambda values: sum(v < best + 1e-2 for v in values)
    odes = [float(s["value"]) for s in starts if s["value"] != "nan"]
    ours, theirs = sum(s["seconds"] for s in starts), sum(s for _, s in found)
    print(f"{len(starts)} starts, seconds of all searches together, and how many came to {best:.4f}")
    print(f"odes   {ours:10.2f} s  {count(odes)}")
    print(f"SciPy  {theirs:10.2f} s  {count([v for v, _ in found])}  ({wall:.1f} s on {args.workers} workers)")
    print(f"ratio  {theirs / ours:10.1f}")


if __name__ == "__main__":
    main()
