"""Published PEtab problems: what odes fit reaches, beside a published table.

    python petab_table.py MODELS ODES TABLE.json [--starts 10] [--seconds 600] [id …]

MODELS is the folder Benchmark-Models of github.com/Benchmarking-Initiative/Benchmark-Models-PEtab. TABLE.json lists
problems with the objectives and times of other optimisers ("petab_*", "collocation_*"). Each problem is fitted on one
core, from its nominal values and from starts − 1 other points, for at most so many seconds. It counts as reached if the
objective is within 1e-3, absolutely or relatively, of the least of the table, or below it, and is confirmed.
"""

import argparse
import json
import pathlib
import resource
import subprocess


def children():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def published(problem):
    """The least objective, its optimiser and its time."""
    best = None
    for name, row in problem.items():
        if not isinstance(row, dict):
            continue
        value = row.get("objective", row.get("objective_by_petab"))
        if value is not None and (best is None or value < best[0]):
            best = value, name, row.get("solve_s")
    return best


def described(folder):
    """The problem's own file: that of its name, or the only one."""
    named = folder / (folder.name + ".yaml")
    return named if named.exists() else sorted(folder.glob("*.yaml"))[0]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("models")
    a.add_argument("odes")
    a.add_argument("table")
    a.add_argument("--starts", type=int, default=10)
    a.add_argument("--seconds", type=float, default=600)
    a.add_argument("ids", nargs="*")
    o = a.parse_intermixed_args()
    print("| problem | published | by | s | odes | confirmed to | status | CPU s | reached |")
    print("|---|---|---|---|---|---|---|---|---|")
    reached = count = 0
    for problem in json.load(open(o.table))["problems"]:
        name = problem["problem"]
        if o.ids and not any(name.startswith(i) for i in o.ids):
            continue
        want, by, seconds = published(problem)
        yaml = described(pathlib.Path(o.models) / name)
        count += 1
        before = children()
        p = subprocess.run(
            [o.odes, "fit", str(yaml), "--starts", str(o.starts), "--workers", "1", "--fit.intervals=none",
             f"--fit.max_time={o.seconds}", "--format", "json"], capture_output=True, text=True)
        spent = children() - before
        try:
            r = json.loads(p.stdout)
            value, error, status = r["objective"]["value"], r["objective"].get("error"), r["status"]
        except (ValueError, KeyError):
            said = (p.stderr.strip().splitlines() or ["nothing"])[-1][:60].replace("|", "/")
            print(f"| {name} | {want:.6g} | {by} | {seconds} | | | {said} | {spent:.0f} | no |", flush=True)
            continue
        near = isinstance(value, float) and value <= want + 1e-3 * max(1, abs(want))
        sure = isinstance(error, float) and error <= 1e-3 * max(1, abs(want))
        reached += near and sure
        print(f"| {name} | {want:.6g} | {by} | {seconds or 0:.3g} | {value:.6g} | {error:.1e} | {status} | {spent:.0f} "
              f"| {'yes' if near and sure else 'no'} |", flush=True)
    print(f"\n{reached} of {count} reached")


if __name__ == "__main__":
    main()
