"""The ``shelfd`` command: where the installed script begins."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

from shelfd.client import streams
from shelfd.client.failure import INTERRUPTED


def main() -> None:
    """Run the command on this process's arguments and exit with a sysexits status.

    Every failure is one sentence on stderr.
    """
    arguments = sys.argv[1:]
    flags = _flags(arguments)
    if arguments[:1] == ["run"] and not flags & {"-h", "--help", "--version"}:
        from shelfd.client.handover import become_daemon

        # The daemon reads the same flags itself; not loading ours makes it ready 0.1 s earlier.
        become_daemon(arguments[1:])
    if arguments[:1] == ["mcp"]:
        from shelfd.client import mcp

        # An agent waits for this one's first answer: nothing else is loaded before it.
        if (ended := mcp.main(arguments[1:])) is not None:
            sys.exit(ended)
    gc.disable()  # what is imported stays; on again for the command itself
    if not streams.prepare():
        streams.complain("stdout is closed: there is nowhere to write the answer to", "NoOutput")
        sys.exit(os.EX_IOERR)
    if arguments[:1] == ["complete"]:
        from shelfd.client.completion import main as complete  # what shells ask behind Tab: no command of people

        status: int | str | None = complete(arguments[1:])
        streams.flush()
    else:
        status = run(arguments)
    # Everything is flushed, or has no reader; what Python would report about that at exit was reported.
    streams.abandon()
    gc.freeze()  # so that nothing is looked at once more before all of it goes: that takes as long as many a command
    sys.exit(status)


def run(arguments: Sequence[str]) -> int | str | None:
    """Run the command on *arguments*, tell what goes wrong, and return the exit status."""
    flags = _flags(arguments)
    streams.tell_as_json(on="--json" in flags)
    try:
        status = _print_version() if "--version" in flags else _run(arguments)
        streams.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return os.EX_OK  # the reader of our output has closed its end
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "cannot write the output: "
        streams.complain(f"{where}{error.strerror or error}", type(error).__name__)
        return os.EX_IOERR
    except Exception as error:  # noqa: BLE001 - the boundary of the process: no traceback, it may hold memory text
        streams.complain(f"internal error, please report it: {_place(error)}", "Internal")
        return os.EX_SOFTWARE
    return status


def _flags(arguments: Sequence[str]) -> set[str]:
    return set(arguments[: list(arguments).index("--")] if "--" in arguments else arguments)


def _run(arguments: Sequence[str]) -> int | str | None:
    try:
        if arguments[:1] == ["import"] and _imports(arguments[1:]):
            return os.EX_OK
        from shelfd.client.application import app  # here, so that failures of the import are reported as well

        ended = app(arguments, prog_name="shelfd", standalone_mode=False)
    except SystemExit as stop:
        return stop.code
    except Exception as error:
        # The command line library's errors of usage: their class has moved with its versions, what they can has not.
        if not hasattr(error, "format_message") or not hasattr(error, "show"):
            raise
        _refuse(error)
        return os.EX_USAGE
    return ended if isinstance(ended, int) else os.EX_OK


def _imports(arguments: Sequence[str]) -> bool:
    """Carry out ``shelfd import``, if its arguments are simple: it begins a quarter sooner without the library."""
    from shelfd.client import imports

    if (wanted := imports.parse(arguments)) is None:
        return False
    gc.enable()  # as for every command
    imports.take_in(wanted)
    return True


def _refuse(error: Any) -> None:  # noqa: ANN401
    """Say what is wrong with the arguments."""
    if hasattr(error, "possibilities"):  # no such option
        error.message = f"{error.message}; what begins with a dash and is no option goes behind --"
    if streams.tells_json():
        streams.complain(error.format_message() or "no command was given", "Usage")
    else:
        error.show()


def _print_version() -> int:
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms

    try:
        print(f"shelfd {version('shelfd')}")
    except PackageNotFoundError:  # the client by itself
        print(f"shelfd {version('shelfd-client')}")
    return os.EX_OK


def _place(error: BaseException) -> str:
    """Return the kind of *error* and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} in {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"  # noqa: PTH119
