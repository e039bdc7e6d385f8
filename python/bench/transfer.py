"""How long a large array takes to come from the process that computes: in a raw frame, and as text in JSON.

    python3 python/bench/transfer.py
"""

import json
import time

import numpy as np

import odes

MODEL = """model Large
time t from 0 to 1
param k = 1
state x[{n}] = 1
x' = -k*x
output y = x
objective J = final(x[1])
"""


def main(n=1000, times=1000):
    m = odes.Model(MODEL.format(n=n))
    at = np.linspace(0, 1, times)
    m.run(at, trust=False)
    whole, few = [], []
    for _ in range(9):
        begin = time.perf_counter()
        y = m.run(at, trust=False)["y"].value
        whole.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        m.run(at[:2], trust=False)
        few.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    text = json.dumps(y.ravel().tolist())
    np.array(json.loads(text))
    as_text = time.perf_counter() - begin
    print(f"{y.size} numbers, {y.nbytes / 1e6:.1f} MB")
    print(f"computed and received  {1e3 * min(whole):7.2f} ms")
    print(f"the same run, 2 times  {1e3 * min(few):7.2f} ms")
    print(f"as text, both ways     {1e3 * as_text:7.2f} ms, {len(text) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
