"""The READY line: where the daemon is, and commands to paste."""

import shlex
import shutil
import sys
from pathlib import Path

from shelfd.daemon import streams
from shelfd.daemon.places import Places


def announce(places: Places, *, has_mqtt: bool = False, warning: str | None = None) -> None:
    """Print the READY line and the commands below it on stdout.

    Args:
        has_mqtt: Whether events can be watched over MQTT without further settings.
        warning: What else a person should know.
    """
    command, socket = client_command(), shlex.quote(str(places.socket))
    lines = [
        f"READY socket={socket} data={shlex.quote(str(places.data))}",
        f'  {command} remember "the kettle is green" --socket {socket}',
        f'  {command} recall "which colour has the kettle" --socket {socket}',
        f'  echo \'{{"jsonrpc":"2.0","id":1,"method":"system.health"}}\' | socat - UNIX-CONNECT:{socket}',
    ]
    if has_mqtt:
        lines.append(f"  {command} watch --mqtt --socket {socket}")
    if warning is not None:
        lines.append(f"WARNING {warning}")
    # One write: whoever waits for READY has all of it. Nobody reading is no reason not to serve.
    streams.say("\n".join(lines) + "\n")


def client_command() -> str:
    """Return how the ``shelfd`` command is called from a shell: by name if the search path leads to ours."""
    ours = Path(sys.executable).with_name("shelfd")
    found = shutil.which("shelfd")
    if found is not None and (not ours.exists() or Path(found).resolve() == ours.resolve()):
        return "shelfd"
    return shlex.quote(str(ours)) if ours.exists() else f"{shlex.quote(sys.executable)} -m shelfd.client"
