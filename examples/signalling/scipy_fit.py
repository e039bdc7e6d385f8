"""The fit of signalling.ode with SciPy, from the starts of a result of `odes fit --format json`.

    odes fit signalling.ode --starts 100 --fit.intervals=none -o starts.json
    OMP_NUM_THREADS=1 python3 scipy_fit.py starts.json [--starts n] [--workers n] [--rtol 1e-6] [--step 1e-3]

It prints the processor time of each search and where it ended. Differences of runs with rtol = 1e-6 mean nothing over
the steps that SciPy takes by itself, 1.5e-8; --step 0 takes these all the same.
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
        s = solve_ivp(rates, (0, 2400), np.zeros(5), method="LSODA", t_eval=times, args=(dose, p), rtol=ARGS.rtol,
                      atol=ARGS.rtol)
        y = s.y.T if s.success and s.y.shape[1] == len(times) else np.full(values.shape, 1e6)
        parts.append(((y - values) / 3).ravel())
    return np.concatenate(parts)


def search(start):
    lo, hi = BOUNDS
    began = time.process_time()
    r = least_squares(residuals, np.clip(np.log(start), lo + 1e-9, hi - 1e-9), bounds=(lo, hi), method="trf",
                      x_scale="jac", max_nfev=300, diff_step=ARGS.step or None)
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


def arguments():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("result")
    args.add_argument("--starts", type=int, default=0, help="how many; 0 means all")
    args.add_argument("--workers", type=int, default=os.cpu_count())
    args.add_argument("--rtol", type=float, default=1e-6)
    args.add_argument("--step", type=float, default=1e-3, help="of differences; 0 means that of SciPy")
    return args.parse_args()


ARGS = arguments()


def main():
    args = ARGS
    with open(args.result) as f:
        result = json.load(f)
    starts = sorted(result["starts"], key=lambda s: s["number"])
    starts = starts[: args.starts or len(starts)]
    best = result["objective"]["value"]
    with ProcessPoolExecutor(args.workers) as pool:
        found = list(pool.map(search, [s["from"] for s in starts]))
    for start, (value, seconds) in zip(starts, found):
        print(f"start {start['number']:3}  odes {start['value']:>12.8g}  SciPy {value:12.8g}  {seconds:8.2f} s")
    came = sum(value < best + 1e-2 for value, _ in found)
    total = sum(seconds for _, seconds in found)
    print(f"SciPy: {total:.1f} s of processor time, {total / len(found):.2f} s a start; "
          f"{came} of {len(found)} came to {best:.4f}")


if __name__ == "__main__":
    main()
