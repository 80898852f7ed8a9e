"""Exceptions: one class for each kind of failure, with its place and advice."""

from __future__ import annotations

from typing import Any, Optional, Tuple


class Error(Exception):
    """A failure that NaMI reports.

    message: one sentence, what is wrong and what to do
    line, column: place in the model's text, counted from 1; None if there is none
    advice: the part of the message that says what to do; None if there is none
    details: all messages about the model, with the lines they refer to; or ""
    """

    def __init__(self, message: str, line: Optional[int] = None, column: Optional[int] = None,
                 details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.details = details

    @property
    def advice(self) -> Optional[str]:
        """What to do, as far as the message says so."""
        what, _, advice = self.message.partition("; ")
        if advice:
            return advice
        caret = [line for line in self.details.splitlines() if line.lstrip().startswith("^")]
        return caret[0].lstrip().lstrip("^~ ") or None if caret else None

    def __str__(self) -> str:
        if self.details:
            return self.details.rstrip("\n")
        return f"{self.line}:{self.column}: {self.message}" if self.line else self.message

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.message, self.line, self.column, self.details)


class InputError(Error, ValueError):
    """A model, a data set or a file is wrong."""


class UsageError(Error, ValueError):
    """An option or an argument is wrong."""


class ClosedError(UsageError):
    """The object has been closed."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class LimitError(Error):
    """The problem is too large for this operation."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory."""


class CanceledError(Error):
    """A progress function has canceled the operation."""


class InternalError(Error):
    """A bug in NaMI; please report it."""


class NamiWarning(UserWarning):
    """The result may be poor: the text says why."""


BY_CODE = {-1: OutOfMemoryError, -2: InputError, -3: FileError, -4: UsageError, -5: LimitError,
           -6: InternalError, -7: CanceledError}
