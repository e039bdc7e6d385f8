"""What goes wrong, and what is to be said of results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Optional

__all__ = [
    "Diagnostic",
    "Interrupted",
    "ModelError",
    "OdesError",
    "OdesWarning",
    "OutOfMemory",
    "RequestError",
    "RunError",
    "ServerError",
    "Trust",
    "TrustWarning",
]


class Trust(str, Enum):
    """How far a number may be relied on, by the comparison with an independent run.

    Trusts are strings (``trust == "sound"``) and have an order: ``SOUND < LOOSE < LOST``.
    """

    SOUND = "sound"  #: right to about three digits or more
    LOOSE = "loose"  #: fewer digits are right, or nothing confirms the number
    LOST = "lost"  #: not even the first digit is sure

    @property
    def rank(self) -> int:
        """0, 1 or 2."""
        return _RANKS[self.value]

    def __str__(self) -> str:
        return self.value

    def __lt__(self, other: str) -> bool:
        return self.rank < Trust(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Trust(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Trust(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Trust(other).rank


GRADES = (Trust.SOUND, Trust.LOOSE, Trust.LOST)
_RANKS = {grade.value: rank for rank, grade in enumerate(GRADES)}


@dataclass(frozen=True)
class Diagnostic:
    """An error, a warning or a note, with its place in the text of the model.

    ``str(diagnostic)`` is what the command shows: the place, the message, and the line with the place underlined.
    """

    code: str  #: a word for programs, such as "undefined-name"; ``odes doc <code>`` explains it
    level: str  #: "error", "warning" or "note"
    message: str
    file: Optional[str]  #: None where there is no place; then the numbers are 0
    line: int  #: from 1
    column: int  #: from 1, in characters
    end_line: int
    end_column: int
    text: str

    def __str__(self) -> str:
        return self.text


def diagnostic(d: dict[str, Any]) -> Diagnostic:
    return Diagnostic(
        d["code"],
        d["level"],
        d["message"],
        d.get("file"),
        d.get("line", 0),
        d.get("column", 0),
        d.get("endLine", 0),
        d.get("endColumn", 0),
        d["text"],
    )


class OdesError(Exception):
    """The base of all errors of this package.

    ``diagnostics`` lists what is wrong, with places in the model. ``str(error)`` shows them.
    """

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics

    def __reduce__(self) -> Any:
        return type(self), (self.args[0], self.diagnostics), self.__dict__


class ModelError(OdesError, ValueError):
    """The text is no model."""


class RequestError(OdesError, ValueError):
    """What was asked for does not fit the model: names, values, settings."""


class RunError(OdesError, ArithmeticError):
    """A run failed. ``start`` is where it began and ``reached`` how far it came, in the model's unit of time.

    Both are None if the run did not begin.
    """

    start: Optional[float] = None
    reached: Optional[float] = None


class OutOfMemory(OdesError, MemoryError):
    """There is too little memory for what was asked for. Models can be used on."""


class Interrupted(OdesError):
    """The run was cancelled by something other than Ctrl-C, which is a KeyboardInterrupt as ever."""


class ServerError(OdesError, RuntimeError):
    """The process that computes has ended, or could not be started. The next call starts another one."""


class OdesWarning(UserWarning):
    """A warning of the compiler or of a run."""


class TrustWarning(OdesWarning):
    """Some numbers of a result are not to be relied on: see their ``trust``."""
