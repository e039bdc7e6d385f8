"""Points of a batch are computed at once: the process takes many requests at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def each(f: Callable[[T], U], points: Sequence[T]) -> list[U]:
    """[f(x) for x in points]"""
    if len(points) <= 1:
        return [f(x) for x in points]
    with ThreadPoolExecutor(min(len(points), os.cpu_count() or 1)) as pool:
        return list(pool.map(f, points))
