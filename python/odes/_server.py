"""The process that computes, and what is said to it (docs/serve.md).

One process serves a Python process. It is started when it is needed first, and again after it has ended. Threads
share it. A forked child starts its own.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import json
import os
import queue
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _errors as errors

Array = npt.NDArray[np.float64]

_VERSION = 1
_HEADER = struct.Struct("<3sBB3xIIQ")
_REQUEST, _CANCEL, _RESULT, _ERROR, _PROGRESS = 1, 2, 16, 17, 18
_WINDOWS = sys.platform == "win32"

# A write of no more than this is whole or has not begun, whatever signal comes.
_ATOMIC = 512 if sys.platform == "darwin" else 4096

# On Windows, what waits without an end does not notice Ctrl-C.
_PATIENCE = 0.1 if _WINDOWS else None

#: The order of bytes in frames.
_LITTLE = np.dtype("<f8")


def binary() -> str:
    """The path of the command: that of ODES_BINARY, else the one in this package, else that on the path."""
    named = os.environ.get("ODES_BINARY")
    if named:
        return named
    name = "odes.exe" if _WINDOWS else "odes"
    inside = Path(__file__).parent / "bin" / name
    if inside.exists():
        return str(inside)
    found = shutil.which(name)
    if found and not _is_script(found):
        return found
    raise errors.ServerError(
        "there is no odes command: this package was not installed from a wheel; "
        "put the command on the path, or its path into ODES_BINARY"
    )


def _is_script(path: str) -> bool:
    """Whether a file is the script of this package that starts the command."""
    with open(path, "rb") as f:
        return f.read(2) == b"#!"


class Reply:
    """An answer: its head, and its arrays by name (outputs in a list)."""

    __slots__ = ("arrays", "head", "outputs")

    def __init__(self, head: dict[str, Any], values: Array) -> None:
        self.head = head
        self.arrays: dict[str, Array] = {}
        self.outputs: list[Array] = []
        at = 0
        for a in head.get("arrays", ()):
            shape = a["shape"]
            size = 1
            for d in shape:
                size *= d
            part = values[at : at + size]
            if len(shape) != 1:
                part = part.reshape(shape)
            at += size
            if a["name"] == "output":
                self.outputs.append(part)
            else:
                self.arrays[a["name"]] = part


class _Slot:
    """A request that waits for its answer."""

    __slots__ = ("cancelled", "inbox")

    def __init__(self) -> None:
        self.inbox: queue.SimpleQueue[tuple[int, Any, Any]] = queue.SimpleQueue()
        self.cancelled = False


class Server:
    """A process, and the threads that read from it and write to it."""

    def __init__(self) -> None:
        path = binary()
        self._ids = itertools.count(1)
        self._slots: dict[int, _Slot] = {}
        self._writing = threading.Lock()
        self._large: queue.SimpleQueue[Optional[tuple[bytes, _Slot]]] = queue.SimpleQueue()
        self._writer: Optional[threading.Thread] = None
        self.dead: Optional[str] = None
        self._says = tempfile.TemporaryFile()  # noqa: SIM115  # what the process writes as it dies
        ours: dict[str, Any] = {"start_new_session": True}  # so that Ctrl-C is for Python alone
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
            ours = {"creationflags": flags}
        its_in, self._in = os.pipe()
        self._out, its_out = os.pipe()
        try:
            self._process = subprocess.Popen(
                [path, "serve", "-q"], stdin=its_in, stdout=its_out, stderr=self._says, **ours
            )
        except OSError as e:
            os.close(self._in)
            os.close(self._out)
            raise errors.ServerError(f"cannot start {path}: {e}") from e
        finally:
            os.close(its_in)
            os.close(its_out)
        self._reader = threading.Thread(target=self._read, name="odes", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def call(
        self, head: bytes, values: bytes = b"", progress: Optional[Callable[[dict[str, Any]], None]] = None
    ) -> Reply:
        """Sends a request and waits for its answer. Whatever ends the waiting cancels the request."""
        slot = _Slot()
        number = next(self._ids) & 0xFFFFFFFF or next(self._ids)
        self._slots[number] = slot
        try:
            header = _HEADER.pack(b"ODE", _VERSION, _REQUEST, number, len(head), len(values) // 8)
            self._send(header + head + values, slot)
            if self.dead is not None:  # perhaps after the reader has told all that waited
                raise errors.ServerError(self.dead)
            while True:
                try:
                    kind, answer, numbers = slot.inbox.get(timeout=_PATIENCE)
                except queue.Empty:
                    continue
                if kind == _RESULT:
                    return Reply(json.loads(answer), numbers)
                if kind == _ERROR:
                    raise _failure(json.loads(answer), numbers)
                if kind == _PROGRESS and progress is not None:
                    progress(json.loads(answer))
                if kind == 0:
                    raise errors.ServerError(answer)
        except errors.OdesError:
            raise
        except BaseException:
            slot.cancelled = True
            with contextlib.suppress(errors.ServerError):
                self._send(_HEADER.pack(b"ODE", _VERSION, _CANCEL, number, 0, 0), slot)
            raise
        finally:
            self._slots.pop(number, None)

    def _send(self, data: bytes, slot: _Slot) -> None:
        if len(data) > _ATOMIC:  # not by this thread, which a signal may end in the middle
            with self._writing:
                if self._writer is None:
                    self._writer = threading.Thread(target=self._write, name="odes-writer", daemon=True)
                    self._writer.start()
            self._large.put((data, slot))
            return
        try:
            with self._writing:
                os.write(self._in, data)
        except OSError:
            self._mourn()

    def _write(self) -> None:
        while True:
            item = self._large.get()
            if item is None:
                return
            data, slot = item
            with self._writing:
                if slot.cancelled:
                    continue
                view = memoryview(data)
                try:
                    while len(view) > 0:
                        view = view[os.write(self._in, view[: 1 << 20]) :]
                except OSError:
                    return  # the reader notices as well, and tells those who wait

    def _mourn(self) -> None:
        """Raises what the end of the process is to those who write to it."""
        self._reader.join(timeout=5)
        raise errors.ServerError(self.dead or "the odes process does not listen")

    def _read(self) -> None:
        buffer = _Buffer(self._out)
        try:
            while True:
                magic, version, kind, number, length, count = _HEADER.unpack(buffer.take(_HEADER.size))
                if magic != b"ODE" or version != _VERSION:
                    raise EOFError("what it says is not the protocol of this package; their versions differ")
                head = buffer.take(length)
                numbers = np.empty(count, _LITTLE)
                if count:
                    buffer.fill(memoryview(numbers.view(np.uint8)))  # type: ignore[arg-type]
                if number == 0:
                    raise EOFError(json.loads(head)["message"])
                slot = self._slots.get(number)
                if slot is not None:
                    slot.inbox.put((kind, head, numbers))
        except (EOFError, OSError) as e:
            self._end(str(e))

    def _end(self, why: str) -> None:
        """Tells all who wait that the process has ended."""
        with contextlib.suppress(OSError):
            self._process.kill()
        status = self._process.wait()
        text = f"the odes process has ended with status {status}"
        if status < 0:
            with contextlib.suppress(ValueError):
                text = f"the odes process was ended by {signal.Signals(-status).name}"
        with contextlib.suppress(OSError, ValueError):
            self._says.seek(max(0, self._says.seek(0, os.SEEK_END) - 4000))
            last = self._says.read().decode("utf-8", "replace").strip()
            self._says.close()
            why = "\n".join(filter(None, [why, last]))
        self.dead = f"{text}: {why}" if why else text
        for slot in list(self._slots.values()):
            slot.inbox.put((0, self.dead, None))
        self._large.put(None)
        with self._writing:
            os.close(self._in)
            self._in = -1
        os.close(self._out)

    def close(self) -> None:
        """Ends the process."""
        if self.dead is None:
            # The process ends once it cannot read on; shutdown of one side of a pipe is its close.
            with self._writing:
                if self._in >= 0:
                    null = os.open(os.devnull, os.O_WRONLY)
                    os.dup2(null, self._in)
                    os.close(null)
            try:
                self._process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                self._process.kill()
            self._reader.join(timeout=2)

    def forget(self) -> None:
        """Lets go of the process in a forked child, without a word to it."""
        self.dead = "the odes process belongs to the parent of this process"
        self._process.returncode = 0  # it is not ours to wait for
        for fd in (self._in, self._out):
            with contextlib.suppress(OSError):
                os.close(fd)


class _Buffer:
    """Bytes that were read from a file and not yet taken."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._bytes = b""
        self._at = 0

    def _more(self, n: int) -> bytes:
        data = os.read(self._fd, n)
        if not data:
            raise EOFError("")
        return data

    def take(self, n: int) -> Union[bytes, bytearray]:
        if n <= len(self._bytes) - self._at:
            self._at += n
            return self._bytes[self._at - n : self._at]
        out = bytearray(n)
        self.fill(memoryview(out))
        return out

    def fill(self, out: memoryview) -> None:
        n = min(len(out), len(self._bytes) - self._at)
        out[:n] = self._bytes[self._at : self._at + n]
        self._at += n
        while n < len(out):
            want = len(out) - n
            data = self._more(max(1 << 16, min(want, 1 << 20)))
            if len(data) > want:
                self._bytes, self._at = data, want
                data = data[:want]
            out[n : n + len(data)] = data
            n += len(data)


_KINDS: dict[str, type[errors.OdesError]] = {
    "model": errors.ModelError,
    "request": errors.RequestError,
    "run": errors.RunError,
    "memory": errors.OutOfMemory,
    "interrupted": errors.Interrupted,
}


class Gone(errors.OdesError):
    """The process does not know a model or a job, or no longer."""


def _failure(head: dict[str, Any], values: Array) -> errors.OdesError:
    list_ = tuple(errors.diagnostic(d) for d in head["diagnostics"] or ())
    text = "\n".join(str(d) for d in list_) or head["message"]
    kind = Gone if head["error"] == "gone" else _KINDS.get(head["error"], errors.ServerError)
    e = kind(text, list_)
    if isinstance(e, errors.RunError) and len(values) == 2:
        e.start, e.reached = float(values[0]), float(values[1])
    return e


_current: Optional[Server] = None
_starting = threading.Lock()


def current() -> Server:
    """The process of this Python process, started if there is none."""
    global _current
    s = _current
    if s is not None and s.dead is None:
        return s
    with _starting:
        if _current is None or _current.dead is not None:
            _current = Server()
        return _current


def shutdown() -> None:
    """End the process that computes, if there is one. The next call starts another one."""
    global _current
    with _starting:
        s, _current = _current, None
    if s is not None:
        s.close()


def _after_fork() -> None:
    global _current, _starting
    _starting = threading.Lock()
    s, _current = _current, None
    if s is not None:
        s.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(shutdown)
