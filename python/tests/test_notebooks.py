"""The notebooks run, with pictures. Skipped where nbclient, ipykernel or matplotlib are not installed.

ODES_PICTURES names a folder for the pictures, for someone to look at.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


class Notebooks(unittest.TestCase):
    def run_notebook(self, name, pictures):
        for needed in ("nbclient", "ipykernel", "matplotlib"):
            if importlib.util.find_spec(needed) is None:
                self.skipTest(f"{needed} is not installed")
        with tempfile.TemporaryDirectory() as folder:
            folder = os.environ.get("ODES_PICTURES", folder)
            run = [sys.executable, NOTEBOOKS / "execute.py", folder, NOTEBOOKS / name]
            out = subprocess.run(run, capture_output=True, text=True, timeout=600)
            self.assertEqual(out.returncode, 0, out.stderr[-4000:])
            drawn = sorted(Path(folder).glob(f"{Path(name).stem}-*.png"))
            self.assertEqual(len(drawn), pictures)
            for path in drawn:
                self.assertTrue(path.read_bytes().startswith(b"\x89PNG"))
                self.assertGreater(path.stat().st_size, 5000)

    def test_theophylline(self):
        self.run_notebook("theophylline.ipynb", 2)

    def test_posterior(self):
        self.run_notebook("posterior.ipynb", 2)

    def test_all_are_tested(self):
        tests = Path(__file__).read_text()
        for path in NOTEBOOKS.glob("*.ipynb"):
            self.assertIn(path.name, tests)


if __name__ == "__main__":
    unittest.main()
