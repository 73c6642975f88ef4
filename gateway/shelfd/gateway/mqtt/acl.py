"""The broker's access list: what ``[access]`` says about reading shelves, in mosquitto's words.

The broker ties the user in a topic to the login; the daemon decides for each request what that user may do on which
shelf. Events are not requested one by one, so the broker must know which users may have them.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from shelfd.gateway.mqtt.topics import ROOT, Topics
from shelfd.memory.errors import ConfigError
from shelfd.memory.shelf.access import ANYONE
from shelfd.protocol import Need
from shelfd.protocol.limits import SHELF_NAME

#: ``Access.may``: whether a principal may do something on a shelf.
May = Callable[[str, str | None, Need], bool]

_MQTT: Final = "mqtt:"
_SHELF: Final = re.compile(SHELF_NAME)
_HEADER: Final = """\
# mosquitto's access list for shelfd, instance {instance}. Made by `shelfd config acl`: do not edit it, write it again
# when [access], a shelf's owner or the list of shelves has changed, and let mosquitto read it again (SIGHUP).
# Names of broker users must not hold "/", "+" or "#"; such a user could write requests as another one.
"""


def mqtt_users(principals: Iterable[str]) -> list[str]:
    """Return the names of those *principals* that are users of the broker, sorted."""
    return sorted({name.removeprefix(_MQTT) for name in principals if name.startswith(_MQTT) and name != ANYONE})


def acl_text(instance: str, users: Iterable[str], shelves: Iterable[str], may: May, *, daemon: str = "shelfd") -> str:
    """Return the text of mosquitto's ``acl_file``.

    Every user of the broker may send requests under their own name, read the replies to them, and read status,
    health and the events of shelves that are open to everyone. *users* get a block each with what they may read.

    Args:
        instance: The daemon's name.
        users: Users of the broker about whom something is known: named in ``[access]``, or owners of shelves.
        shelves: The shelves there are.
        may: The rules.
        daemon: The broker user that the daemon logs in as.

    Raises:
        ConfigError: If a name cannot be in an access list.
    """
    names = sorted({_checked_shelf(shelf) for shelf in shelves})
    topics = Topics(_checked_shelf(instance))
    open_to_all = [shelf for shelf in names if may(ANYONE, shelf, "read")]
    lines = [
        _HEADER.format(instance=instance).rstrip("\n"),
        "",
        f"user {_checked_user(daemon)}",
        f"topic readwrite {ROOT}/#",
    ]
    for user in sorted(set(users) - {daemon}):
        readable = [shelf for shelf in names if may(_MQTT + user, shelf, "read")]
        denied = [shelf for shelf in open_to_all if shelf not in readable]
        lines += ["", f"user {_checked_user(user)}"]
        lines += [f"topic deny {one}" for shelf in denied for one in _told(topics, shelf)]
        lines += [f"topic read {one}" for shelf in readable for one in _told(topics, shelf)]
    lines += [
        "",
        "# Every user; %u is the user who is logged in.",
        f"pattern write {ROOT}/+/req/%u/#",
        f"pattern read {ROOT}/+/rep/%u/#",
        f"pattern read {ROOT}/+/status",
        f"pattern read {ROOT}/+/health",
    ]
    lines += [f"pattern read {one}" for shelf in open_to_all for one in _told(topics, shelf)]
    return "\n".join(lines) + "\n"


def _told(topics: Topics, shelf: str) -> tuple[str, str]:
    """Return the topic filters of what is published about a shelf."""
    return topics.events(shelf), topics.watch(shelf)


def _checked_user(name: str) -> str:
    # A line end would begin a line of its own, a wildcard or a level would reach into others' topics.
    if not name or not name.isprintable() or any(character.isspace() or character in "/+#" for character in name):
        raise ConfigError(f"mqtt user {name!r} cannot be in an access list: no blanks, '/', '+', '#', controls")
    return name


def _checked_shelf(name: str) -> str:
    if _SHELF.fullmatch(name) is None:
        raise ConfigError(f"{name!r} cannot be in an access list: it is no name of a shelf or an instance")
    return name
