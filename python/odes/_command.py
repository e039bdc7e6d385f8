"""The command odes of the wheel."""

from __future__ import annotations

import os
import subprocess
import sys

from ._server import binary


def main() -> int:
    """Runs the command with the arguments of this process."""
    args = [binary(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(args[0], args)
    return subprocess.call(args)


if __name__ == "__main__":
    sys.exit(main())
