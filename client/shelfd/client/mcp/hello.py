"""The greeting, for as long as no daemon is there to say it. A test holds it equal to the daemon's."""

import json
import os
import sys
from typing import Any

from shelfd.client.mcp.messages import version_of


def greeting(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer to ``initialize`` or ``server/discover``; None if the daemon has to say what is wrong."""
    found = _said()
    server = {"name": "shelfd", "title": "shelfd memory", "version": _version()}
    params = message.get("params")
    if not isinstance(params, dict):
        return None
    same = {"capabilities": found["capabilities"], "instructions": found["instructions"]}
    if message["method"] == "initialize":
        wanted = params.get("protocolVersion")
        version = wanted if wanted in found["handshake"] else found["handshake"][-1]
        result: dict[str, Any] = {"protocolVersion": version, "serverInfo": server, **same}
    else:
        if version_of(message) not in found["stateless"]:
            return None
        versions = [*found["handshake"], *found["stateless"]]
        result = {
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "supportedVersions": versions,
            "_meta": {"io.modelcontextprotocol/serverInfo": server}, **same,
        }  # fmt: skip
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _said() -> dict[str, Any]:
    path = os.path.join(os.path.dirname(__file__), "hello.json")  # noqa: PTH118, PTH120 - pathlib costs 5 ms here
    with open(path, "rb") as file:  # noqa: PTH123
        found: dict[str, Any] = json.load(file)
    return found


def _version() -> str:
    """Return the installed version by the name of its folder: ``importlib.metadata`` takes longer than all else."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208
        except OSError:
            continue
        for name in names:
            if name.startswith("shelfd-") and name.endswith(".dist-info"):
                return name.removeprefix("shelfd-").removesuffix(".dist-info")
    from importlib.metadata import version

    return version("shelfd")
