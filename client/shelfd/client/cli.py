"""The ``shelfd`` command: where the installed script begins."""

import os
import sys

_CLICK_USAGE = 2


def main() -> None:
    """Run the command on this process's arguments and exit with a sysexits status."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"] and "--help" not in arguments:
        from shelfd.client.handover import become_daemon

        # The daemon reads the same flags itself; not loading ours makes it ready 0.1 s earlier.
        become_daemon(arguments[1:])
    from shelfd.client.application import app

    try:
        app(prog_name="shelfd")
    except SystemExit as stop:
        # The command line library says 2 for wrong usage; the contract's statuses are sysexits.
        sys.exit(os.EX_USAGE if stop.code == _CLICK_USAGE else stop.code)
    except KeyboardInterrupt:
        sys.exit(130)
