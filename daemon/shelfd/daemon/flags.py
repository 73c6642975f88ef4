"""The daemon's command line. ``shelfd run`` passes the same flags on."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from shelfd.daemon import streams
from shelfd.daemon.places import config_file
from shelfd.daemon.settings import Loaded, load
from shelfd.daemon.sources import Location

_EPILOG = """\
exit status:
  0   stopped by SIGTERM or SIGINT
  64  wrong usage
  70  internal error
  74  the data directory cannot be used
  75  another daemon holds the data directory
  78  wrong configuration, or the socket cannot be bound

examples:
  shelfd run
  shelfd run --data-dir ./shelf --socket ./shelf/shelfd.sock
  shelfd config show --origin
"""

#: By flag, the setting it sets.
_SETTINGS: Mapping[str, Location] = {
    "data_dir": ("daemon", "data_dir"),
    "socket": ("daemon", "socket"),
    "instance": ("daemon", "instance"),
    "mqtt_url": ("mqtt", "url"),
    "embedded_broker": ("mqtt", "embedded_broker"),
}


class Parser(argparse.ArgumentParser):
    """Says wrong usage by the sysexits status."""

    def error(self, message: str) -> NoReturn:
        """Print *message* and end the process."""
        self.print_usage(sys.stderr)
        self.exit(os.EX_USAGE, f"{self.prog}: {message}\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Print *message* and end the process; help that could not be written is said to be missing."""
        if not streams.say(""):
            status = status or os.EX_IOERR
        super().exit(status, message)


class _Version(argparse.Action):
    """Prints the version; a daemon that starts has no time to look it up for nothing."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Print it and end the process."""
        del namespace, values, option_string
        from importlib.metadata import version  # takes 20 ms

        streams.say(f"shelfd {version('shelfd')}\n")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``python -m shelfd.daemon`` and its ``config`` commands."""
    root = Parser(
        prog="shelfd run",
        description="Serve an agent's memory on a Unix socket until SIGTERM.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_flags(root)
    return root


_ACTIONS = "check: say whether they are right; show: print them; acl: print the broker's access list that follows"


def config_parser() -> argparse.ArgumentParser:
    """Return the parser of ``python -m shelfd.daemon config``."""
    root = Parser(
        prog="shelfd config", description="Check or show the daemon's settings without starting it.", allow_abbrev=False
    )
    root.add_argument("action", choices=("check", "show", "acl"), help=_ACTIONS)
    root.add_argument("--origin", action="store_true", help="with show: where each value comes from")
    root.add_argument("--json", action="store_true", help="print JSON")
    _add_flags(root)
    return root


def settings_of(arguments: argparse.Namespace) -> dict[Location, tuple[str, object]]:
    """Return by setting the flag that was given and its value."""
    given = {name: getattr(arguments, name) for name in _SETTINGS}
    return {
        _SETTINGS[name]: ("--" + name.replace("_", "-"), value)
        for name, value in given.items()
        if value is not None and value is not False
    }


def read(arguments: argparse.Namespace, environ: Mapping[str, str]) -> Loaded:
    """Read the settings for a command line.

    Raises:
        ConfigError: If they are wrong.
    """
    file = config_file(arguments.config, environ, system=arguments.system)
    return load(settings_of(arguments), environ, file)


def split(argv: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the command, such as ``config``, and the arguments after its name; None for the daemon itself."""
    is_command = argv[:1] in (["config"], ["setup"], ["offline"], ["doctor"])
    return (argv[0], list(argv[1:])) if is_command else (None, list(argv))


def doctor_parser() -> argparse.ArgumentParser:
    """Return the parser of ``python -m shelfd.daemon doctor``."""
    root = Parser(prog="shelfd doctor", description="Look for what is wrong without a daemon.", allow_abbrev=False)
    _add_flags(root)
    return root


def offline_parser() -> argparse.ArgumentParser:
    """Return the parser of ``python -m shelfd.daemon offline``."""
    root = Parser(
        prog="shelfd", description="Carry out a call without a daemon; reads params, writes JSON.", allow_abbrev=False
    )
    root.add_argument("method", choices=("shelf.backup", "shelf.restore"))
    _add_flags(root)
    return root


def _add_flags(root: argparse.ArgumentParser) -> None:
    root.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    root.add_argument("--config", metavar="FILE", help="configuration file (TOML)")
    root.add_argument("--data-dir", metavar="DIR", help="where the shelves are kept")
    root.add_argument("--socket", metavar="PATH", help="Unix socket to listen on")
    root.add_argument(
        "--mqtt-url", metavar="URL", help="MQTT broker, mqtt[s]://[user@]host:port; a file has its password"
    )
    root.add_argument("--instance", metavar="NAME", help="name of this daemon in events")
    root.add_argument("--embedded-broker", action="store_true", help="run a small MQTT broker inside, for trying out")
    root.add_argument(
        "--system", action="store_true", help="run as the system's service: /var/lib/shelfd, /run/shelfd.sock"
    )
