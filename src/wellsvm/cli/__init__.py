"""The command line. `main` is its entry point; `wellsvm.cli.app` registers the commands, one small module each.

typer and rich come with the extra ``cli``: ``import wellsvm`` never needs them.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from wellsvm._escape import shown

__all__ = ["main"]

MISSING_EXTRA = "the command line needs the extra 'cli': pip install 'wellsvm[cli]'"
INTERRUPTED = 130


def main() -> None:
    """Run the command line. An error is one line: exit code 2 for wrong usage, 1 otherwise.

    ``WELLSVM_TRACEBACK=1`` shows the whole traceback instead.
    """
    try:
        with _leaving_at_once():
            import rich  # the commands import it when they run

            from wellsvm.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        _fail(MISSING_EXTRA, 2)
    try:
        code = app(prog_name="wellsvm", standalone_mode=False)
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)
    except Exception as error:
        if os.environ.get("WELLSVM_TRACEBACK"):
            raise
        if type(error).__name__ == "Abort":  # Ctrl-C in older versions of typer
            _fail("interrupted", INTERRUPTED)
        # Errors of usage bring their message and exit code; their class lives in click or in typer, by its version.
        format_message = getattr(error, "format_message", None)
        message = format_message() if format_message else f"{type(error).__name__}: {error}"
        message = message.replace("Value error, ", "")  # newer versions of typer say it before the message
        _fail(message, getattr(error, "exit_code", 1))
    if code == INTERRUPTED:
        _fail("interrupted", INTERRUPTED)
    sys.exit(code)


def _fail(message: str, exit_code: int) -> NoReturn:
    print(f"wellsvm: {shown(' '.join(message.split()))}", file=sys.stderr)
    sys.exit(exit_code)


@contextmanager
def _leaving_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process at once: while modules are imported an exception would come out of whichever of them
    is at work, or be swallowed by it, and there is nothing to clean up yet."""

    def leave(*_: object) -> NoReturn:
        os.write(2, b"wellsvm: interrupted\n")
        os._exit(INTERRUPTED)

    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
