"""``python -m shelfd.daemon offline METHOD``: one call on whole shelves without a daemon, under the lock.

Params are read from stdin as JSON, the result is written to stdout as JSON; what goes wrong is one line on stderr.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from shelfd.daemon import flags, streams
from shelfd.daemon import logging as daemon_logging
from shelfd.daemon.host import SystemClock
from shelfd.daemon.lock import DataLock
from shelfd.daemon.places import Places, choose
from shelfd.daemon.settings import Loaded
from shelfd.memory.errors import ShelfError
from shelfd.protocol import Code

#: As in the client.
_STATUSES: Final = {
    Code.INVALID_PARAMS: os.EX_DATAERR,
    Code.NOT_FOUND: os.EX_NOINPUT,
    Code.CONFLICT: os.EX_CANTCREAT,
    Code.UNAVAILABLE: os.EX_TEMPFAIL,
    Code.STORAGE_CORRUPT: os.EX_IOERR,
    Code.HISTORY_TRIMMED: os.EX_NOINPUT,
}


def execute(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Carry the call out and return the exit status.

    Raises:
        ConfigError: If the settings are wrong.
        HeldError: If a daemon has the data directory.
    """
    arguments = flags.offline_parser().parse_args(argv)
    loaded = flags.read(arguments, environ)
    places = choose(loaded, environ, system=arguments.system, activated=None, pid=os.getpid())
    daemon_logging.configure("error", "console")
    try:
        places.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with DataLock(places.data, socket=places.socket):
            result = asyncio.run(_carry_out(loaded, places, arguments.method, json.load(sys.stdin)))
    except ShelfError as error:
        streams.complain(f"{error.message} [{type(error).__name__}]")
        return _STATUSES.get(Code(error.code), os.EX_SOFTWARE)
    except (ValidationError, ValueError):
        streams.complain("these are no params of this method")
        return os.EX_DATAERR
    except OSError as error:
        streams.complain(f"{places.data}: {error.strerror or error}")
        return os.EX_IOERR
    return os.EX_OK if streams.say(json.dumps(result) + "\n") else os.EX_IOERR


async def _carry_out(loaded: Loaded, places: Places, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    from shelfd.daemon.composition import build  # after the cheap refusals: this imports everything else
    from shelfd.memory import Call, Ticket
    from shelfd.protocol import METHODS

    parts = build(loaded.settings, places, loaded.environ)
    try:
        method = METHODS[name]
        principal = f"uid:{os.getuid()}"
        call = Call(method, method.params.model_validate(params), principal, "offline", Ticket(SystemClock()))
        return await parts.service.handle(call)
    finally:
        await parts.shelves.close()
        await parts.model.close()
