"""From a command line to a serving daemon, and from what went wrong to an exit status."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from socket import socket

import structlog

from shelfd.daemon import flags, host, streams
from shelfd.daemon import logging as daemon_logging
from shelfd.daemon.lock import DataLock, HeldError
from shelfd.daemon.notify import Notifier, listen_fds, watchdog_interval_s
from shelfd.daemon.places import Places, choose
from shelfd.daemon.settings import Loaded
from shelfd.memory.errors import ConfigError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the daemon, or a command such as ``config``, and return the exit status; ``--help`` explains it."""
    streams.prepare()
    command, rest = flags.split(sys.argv[1:] if argv is None else argv)
    environ = host.take_environment()
    try:
        if command == "config":
            from shelfd.daemon import config_command  # the daemon itself never needs it

            return config_command.execute(rest, environ)
        if command == "doctor":
            from shelfd.daemon import doctor_command  # as above

            return doctor_command.execute(rest, environ)
        if command == "offline":
            from shelfd.daemon import offline_command  # as above

            return offline_command.execute(rest, environ)
        if command == "setup":
            from shelfd.daemon import setup  # as above

            return setup.execute(rest, environ)
        return _run(flags.parser().parse_args(rest), environ)
    except ConfigError as error:
        streams.complain(error.message)
        return os.EX_CONFIG
    except HeldError as error:
        streams.complain(str(error))
        return os.EX_TEMPFAIL


def activated_path(sockets: Mapping[str, socket]) -> Path | None:
    """Return where the socket the service manager handed over is bound; None without one."""
    return Path(str(sockets["rpc"].getsockname())) if "rpc" in sockets else None


def _run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    loaded = flags.read(arguments, environ)
    sockets = listen_fds(environ, os.getpid())
    places = choose(loaded, environ, system=arguments.system, activated=activated_path(sockets), pid=os.getpid())
    section = loaded.settings.log
    threshold = daemon_logging.configure(section.level, daemon_logging.form_for(section.format, sys.stderr, environ))
    try:
        places.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = DataLock(places.data, socket=places.socket)
    except OSError as error:
        streams.complain(f"{places.data_origin}: daemon.data_dir: cannot be used: {error.strerror}: {places.data}")
        return os.EX_IOERR
    from shelfd.daemon import served
    from shelfd.daemon.life import serve  # after the cheap refusals: this imports everything else
    from shelfd.daemon.reload import Reloading

    notifier = Notifier(environ)
    reloading = Reloading(loaded, partial(flags.read, arguments, environ), threshold)
    origin = served.by_this(loaded, places, environ, system=arguments.system, pid=os.getpid())
    coroutine = partial(
        serve, loaded, places, origin, activated=sockets.get("rpc"), notifier=notifier,
        watchdog_s=watchdog_interval_s(environ, os.getpid()), reload=reloading, threshold=threshold,
    )  # fmt: skip
    with lock:
        return _serve(coroutine, loaded, places, notifier)


def _serve(
    coroutine: Callable[[], Coroutine[None, None, None]], loaded: Loaded, places: Places, notifier: Notifier
) -> int:
    try:
        with asyncio.Runner(loop_factory=_loop_factory(loaded)) as runner:
            runner.run(coroutine())
    except ConfigError as error:
        is_socket = error.data.get("field") == "socket"
        streams.complain(f"{places.socket_origin}: daemon.socket: {error.message}" if is_socket else error.message)
        return os.EX_CONFIG
    except OSError as error:
        streams.complain(
            f"{places.data_origin}: daemon.data_dir: cannot be used: {error.strerror or error}: {places.data}"
        )
        return os.EX_IOERR
    except Exception:  # noqa: BLE001 - the boundary of the process: whatever it was, it is logged and has a status
        structlog.get_logger("shelfd.daemon").exception("daemon.failed")
        return os.EX_SOFTWARE
    finally:
        notifier.close()
    return os.EX_OK


def _loop_factory(loaded: Loaded) -> Callable[[], asyncio.AbstractEventLoop]:
    if loaded.settings.daemon.loop == "asyncio":
        return asyncio.new_event_loop
    import uvloop  # only when it is used

    return uvloop.new_event_loop
