"""The settings that hold in the daemon that runs."""

import json
from collections.abc import Mapping
from typing import Any

from shelfd.client.failure import NotRunning
from shelfd.client.invocation import reported
from shelfd.client.output import clean, print_json
from shelfd.client.streams import warn
from shelfd.client.transport import connect

_BROAD = 60


def show_running(socket: str | None, *, with_origin: bool, as_json: bool) -> bool:
    """Print the settings of the daemon that listens; return whether one does."""
    with reported():
        try:
            with connect(socket) as client:
                found = client.call("system.config")
        except NotRunning:
            warn("no daemon is listening: these are the settings it would have")
            return False
    settings, origins = found["settings"], found["origins"]
    if as_json:
        with_both = {key: {"value": value, "origin": origins[key]} for key, value in settings.items()}
        print_json(with_both if with_origin else settings)
    else:
        _print(settings, origins if with_origin else None)
    return True


def _print(settings: Mapping[str, Any], origins: Mapping[str, str] | None) -> None:
    texts = {key: f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()}
    broad = max(len(text) for text in texts.values() if len(text) <= _BROAD)
    for key, text in texts.items():
        print(clean(text if origins is None else f"{text.ljust(broad)}  # {origins[key]}"))
