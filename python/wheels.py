"""Builds the wheels of the package: its files, and the command for one platform.

    python3 wheels.py ../dist               a wheel for each platform
    python3 wheels.py ../dist linux/amd64   for these platforms
    python3 wheels.py ../dist host          for this one

It needs Go, and Python 3.11. The same source gives the same bytes. It is a build backend as well, so that pip builds a
wheel for this machine from the folder (PEP 517).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:
    import tomli as tomllib  # type: ignore[no-redef]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# The tags of the platforms. The command is static, so a Linux of any age and C library runs it (the kernel has to be
# 3.2 or later, which what these tags stand for implies). macOS 12 is the oldest that Go 1.26 supports.
PLATFORMS = {
    "linux/amd64": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "linux/arm64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "darwin/amd64": ["macosx_12_0_x86_64"],
    "darwin/arm64": ["macosx_12_0_arm64"],
    "windows/amd64": ["win_amd64"],
    "windows/arm64": ["win_arm64"],
}


def project() -> dict[str, Any]:
    with open(HERE / "pyproject.toml", "rb") as f:
        return tomllib.load(f)["project"]


def version() -> str:
    """The version in the form of Python: 0.2.0-rc.1 is 0.2.0rc1 there."""
    text = re.search(r'^const Version = "(.*)"$', (ROOT / "version.go").read_text(), re.M)
    assert text, "version.go has no version"
    words = {"alpha": "a", "beta": "b", "rc": "rc", "dev": ".dev"}
    return re.sub(r"-(alpha|beta|rc|dev)\.?", lambda m: words[m[1]], text[1])


def metadata() -> str:
    p = project()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {p['name']}",
        f"Version: {version()}",
        f"Summary: {p['description']}",
        f"License-Expression: {p['license']}",
        "License-File: LICENSE",
        "License-File: THIRD_PARTY_NOTICES",
        f"Keywords: {','.join(p['keywords'])}",
        *(f"Classifier: {c}" for c in p["classifiers"]),
        f"Requires-Python: {p['requires-python']}",
        *(f"Requires-Dist: {d}" for d in p["dependencies"]),
    ]
    for extra, needs in p["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {d}; extra == "{extra}"' for d in needs]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / p["readme"]).read_text()]
    return "\n".join(lines)


def commit() -> str:
    """The commit of the source, which `odes version` tells; "" where there is no git."""
    try:
        run = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def compile_command(platform: str, to: Path) -> None:
    """Compiles the command as `make release` does."""
    goos, _, goarch = platform.partition("/")
    flags = f"-ldflags=-s -w -buildid= -X main.commit={commit()}"
    subprocess.run(
        ["go", "build", "-trimpath", "-buildvcs=false", flags, "-o", str(to), "./cmd/odes"],
        cwd=ROOT,
        env={**os.environ, "CGO_ENABLED": "0", "GOOS": goos, "GOARCH": goarch},
        check=True,
    )


def host() -> str:
    text = subprocess.run(["go", "env", "-json", "GOHOSTOS", "GOHOSTARCH"], check=True, capture_output=True).stdout
    env = json.loads(text)
    return f"{env['GOHOSTOS']}/{env['GOHOSTARCH']}"


class Wheel:
    """A wheel that is written."""

    def __init__(self, path: Path) -> None:
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record: list[str] = []

    def add(self, name: str, data: bytes, mode: int = 0o644) -> None:
        info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
        info.create_system = 3  # of which external_attr is the mode
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")


def build(platform: str, folder: Path) -> Path:
    """Builds the wheel for a platform and returns its path."""
    p, tags = project(), PLATFORMS[platform]
    stem = f"{p['name']}-{version()}"
    path = folder / f"{stem}-py3-none-{'.'.join(tags)}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    w = Wheel(path)
    for file in sorted((HERE / "odes").glob("**/*")):
        inside = file.relative_to(HERE).as_posix()
        if file.suffix in (".py", ".typed"):
            if file.is_file():
                w.add(inside, file.read_bytes())
    with tempfile.TemporaryDirectory() as work:
        command = Path(work) / ("odes.exe" if platform.startswith("windows/") else "odes")
        compile_command(platform, command)
        w.add(f"odes/bin/{command.name}", command.read_bytes(), 0o755)
    info = f"{stem}.dist-info"
    w.add(f"{info}/METADATA", metadata().encode())
    for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
        w.add(f"{info}/licenses/{name}", (ROOT / name).read_bytes())
    scripts = "".join(f"{name} = {to}\n" for name, to in p["scripts"].items())
    w.add(f"{info}/entry_points.txt", f"[console_scripts]\n{scripts}".encode())
    tag_lines = "".join(f"Tag: py3-none-{t}\n" for t in tags)
    w.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: odes\nRoot-Is-Purelib: false\n{tag_lines}".encode())
    record = "\n".join([*w.record, f"{info}/RECORD,,", ""])
    w.add(f"{info}/RECORD", record.encode())
    w.zip.close()
    return path


def build_wheel(folder: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Builds a wheel for this machine (PEP 517)."""
    return build(host(), Path(folder)).name


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for which in sys.argv[2:] or PLATFORMS:
        print(build(host() if which == "host" else which, Path(sys.argv[1]).resolve()))
