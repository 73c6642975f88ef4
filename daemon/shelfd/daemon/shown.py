"""Settings as they are shown."""

from collections.abc import Iterator
from typing import Any

from shelfd.daemon.places import Places
from shelfd.daemon.settings import Loaded


def rows_of(loaded: Loaded, places: Places) -> Iterator[tuple[str, Any, str]]:
    """Yield key, value and origin of every setting, with the paths that were chosen."""
    chosen = {
        ("daemon", "data_dir"): (str(places.data), places.data_origin),
        ("daemon", "socket"): (str(places.socket), places.socket_origin),
    }
    for section, values in loaded.settings.model_dump().items():
        for name, value in values.items():
            where = (section, name)
            shown, origin = chosen.get(where, (value, loaded.origin(where)))
            yield f"{section}.{name}", shown, origin
