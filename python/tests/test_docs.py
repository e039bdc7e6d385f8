"""The Python in the documents runs, block after block, in a folder with its model."""

import contextlib
import importlib.util
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Page(unittest.TestCase):
    def test_page(self):
        self.run_blocks(ROOT / "docs" / "python.md", least=6)

    def test_readme(self):
        self.run_blocks(ROOT / "README.md", least=1)

    def run_blocks(self, page, least):
        text = page.read_text(encoding="utf-8")
        model = re.search(r"^```odes\n(.*?)^```", text, re.M | re.S).group(1)
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        self.assertGreaterEqual(len(blocks), least)
        names = {}
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "model.ode").write_text(model, encoding="utf-8")
            os.chdir(folder)
            try:
                for block in blocks:
                    needs = re.findall(r"^import (\w+)", block, re.M)
                    if all(importlib.util.find_spec(n) for n in needs):
                        with self.subTest(block=block), contextlib.redirect_stdout(io.StringIO()):
                            exec(compile(block, str(page), "exec"), names)
            finally:
                os.chdir(before)


if __name__ == "__main__":
    unittest.main()
