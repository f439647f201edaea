"""The command line. `main` is its entry point; `wellsvm.cli.app` registers the commands, one small module each.

typer and rich come with the extra ``cli``: ``import wellsvm`` never needs them. Python has imported os and sys before;
nothing else is imported until `main` answers Ctrl-C.
"""

import os
import sys

TYPE_CHECKING = False  # as in typing
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["main"]

MISSING_EXTRA = "the command line needs the extra 'cli': pip install 'wellsvm[cli]'"
INTERRUPTED = 130


def main() -> None:
    """Run the command line. An error is one line: exit code 2 for wrong usage, 1 otherwise.

    ``WELLSVM_TRACEBACK=1`` shows the whole traceback instead.
    """
    restore = _leave_at_once()
    try:
        import rich  # the commands import it when they run

        from wellsvm.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        _fail(MISSING_EXTRA, 2)
    finally:
        restore()
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


def _fail(message: str, exit_code: int) -> "NoReturn":
    from wellsvm._escape import shown

    print(f"wellsvm: {shown(' '.join(message.split()))}", file=sys.stderr)
    sys.exit(exit_code)


def _leave_at_once() -> "Any":
    """Let Ctrl-C end the process at once, until the function that is returned is called.

    While modules are imported an exception would come out of whichever of them is at work, or be swallowed by it, and
    there is nothing to clean up yet.
    """
    signals = __import__("_signal")  # signal itself imports other modules

    def leave(*_: object) -> "NoReturn":
        os.write(2, b"wellsvm: interrupted\n")
        os._exit(INTERRUPTED)

    before = signals.default_int_handler
    try:
        if signals.getsignal(signals.SIGINT) is before:
            signals.signal(signals.SIGINT, leave)
            return lambda: signals.signal(signals.SIGINT, before)
    except ValueError:  # not the main thread
        pass
    return lambda: None
