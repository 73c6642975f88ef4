"""The reference memory server of the Model Context Protocol, over its stdio: a note is an entity with one observation.

Its search looks for the whole query in a text, so a question finds what quotes it.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peer_drivers.driving import Corpus, Note, Vector, drive


class Reference:
    """The server as a child, which keeps everything in one file."""

    batch = 10_000

    def __init__(self, directory: Path, corpus: Corpus) -> None:
        del corpus
        environment = {**os.environ, "MEMORY_FILE_PATH": str(directory / "memory.jsonl")}
        server = Path(os.environ["PEER"]) / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
        self._server = subprocess.Popen(
            ["node", str(server)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self.process_id = self._server.pid
        self._asked = 0
        hello = {"name": "peers", "version": "1"}
        self._request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": hello})
        self._send({"method": "notifications/initialized"})

    def load(self, notes: Sequence[Note]) -> None:
        entities = [{"name": note.id, "entityType": "note", "observations": [note.text]} for note in notes]
        self._tool("create_entities", {"entities": entities})

    def settle(self) -> None:
        pass

    def add(self, note: Note) -> None:
        self.load([note])

    def ask(self, text: str, vector: Vector) -> list[str]:
        del vector
        return [entity["name"] for entity in self._tool("search_nodes", {"query": text})["entities"]]

    def close(self) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.terminate()
        self._server.wait(60)

    def _tool(self, name: str, arguments: dict[str, Any]) -> Any:
        result = self._request("tools/call", {"name": name, "arguments": arguments})
        assert not result.get("isError"), result
        return result["structuredContent"]

    def _request(self, method: str, params: dict[str, Any]) -> Any:
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        assert self._server.stdout is not None
        while line := self._server.stdout.readline():
            reply = json.loads(line)
            if reply.get("id") == self._asked:
                return reply["result"]
        raise SystemExit("the server went away")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._server.stdin.flush()


if __name__ == "__main__":
    drive(Reference)
