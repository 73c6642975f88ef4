"""The ``shelfd`` command: where the installed script begins."""

import os
import sys
from collections.abc import Sequence

from shelfd.client import streams
from shelfd.client.failure import INTERRUPTED

_CLICK_USAGE = 2


def main() -> None:
    """Run the command on this process's arguments and exit with a sysexits status.

    Every failure is one sentence on stderr.
    """
    arguments = sys.argv[1:]
    flags = set(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    if arguments[:1] == ["run"] and not flags & {"-h", "--help", "--version"}:
        from shelfd.client.handover import become_daemon

        # The daemon reads the same flags itself; not loading ours makes it ready 0.1 s earlier.
        become_daemon(arguments[1:])
    if arguments[:1] == ["mcp"]:
        from shelfd.client import mcp

        # An agent waits for this one's first answer: nothing else is loaded before it.
        if (ended := mcp.main(arguments[1:])) is not None:
            sys.exit(ended)
    if not streams.prepare():
        streams.complain("stdout is closed: there is nowhere to write the answer to")
        sys.exit(os.EX_IOERR)
    status = _status(arguments, wants_version="--version" in flags)
    # Everything is flushed, or has no reader; what Python would report about that at exit was reported.
    streams.abandon()
    sys.exit(status)


def _status(arguments: Sequence[str], *, wants_version: bool) -> int | str | None:
    """Run the command; return its status."""
    try:
        status = _print_version() if wants_version else _run(arguments)
        streams.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return os.EX_OK  # the reader of our output has closed its end
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "cannot write the output: "
        streams.complain(f"{where}{error.strerror or error}")
        return os.EX_IOERR
    except Exception as error:  # noqa: BLE001 - the boundary of the process: no traceback, it may hold memory text
        streams.complain(f"internal error, please report it: {_place(error)}")
        return os.EX_SOFTWARE
    return status


def _run(arguments: Sequence[str]) -> int | str | None:
    from shelfd.client.application import app  # here, so that failures of the import are reported as well

    try:
        app(arguments, prog_name="shelfd")
    except SystemExit as stop:
        # The command line library says 2 for wrong usage; the contract's statuses are sysexits.
        return os.EX_USAGE if stop.code == _CLICK_USAGE else stop.code
    return os.EX_OK


def _print_version() -> int:
    from importlib.metadata import version  # takes 20 ms

    print(f"shelfd {version('shelfd')}")
    return os.EX_OK


def _place(error: BaseException) -> str:
    """Return the kind of *error* and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} in {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"  # noqa: PTH119
