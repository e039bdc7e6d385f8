"""Executes notebooks and writes their pictures.

    python3 execute.py FOLDER            all of them; pictures go to FOLDER
    python3 execute.py FOLDER x.ipynb    these

It needs nbclient and ipykernel. The notebooks themselves stay as they are: without outputs.
"""

from __future__ import annotations

import base64
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def execute(path: Path) -> Any:
    """The notebook with its outputs. An error of a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
    return notebook


def pictures(notebook: Any) -> list[bytes]:
    """Its pictures, as PNG."""
    data = (o.get("data", {}) for c in notebook.cells for o in c.get("outputs", ()))
    return [base64.b64decode(d["image/png"]) for d in data if "image/png" in d]


def main(folder: str, *paths: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path in map(Path, paths or sorted(map(str, HERE.glob("*.ipynb")))):
        begin = time.perf_counter()
        notebook = execute(path)
        print(f"{path.name}: {time.perf_counter() - begin:.1f} s")
        for i, png in enumerate(pictures(notebook), 1):
            Path(folder, f"{path.stem}-{i}.png").write_bytes(png)
        for cell in notebook.cells:
            for o in cell.get("outputs", ()):
                if o.output_type == "stream":
                    print(o.text, end="")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
