"""Lines out of a stream of bytes, in bounded memory."""

from typing import Final

#: The longest line, in bytes; the daemon takes and sends no longer ones.
LINE_BYTES: Final = 8 * 1024 * 1024


class LineBuffer:
    """Cuts bytes into lines; one that is too long becomes None. What has no end yet is no line."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._bytes = 0
        self._skips = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """Take the stream's next bytes; return the lines that end in them, without their ends, blank ones left out."""
        *ended, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        for part in ended:
            self._keep(part)
            if self._skips:
                lines.append(None)
            elif line := b"".join(self._parts).strip():
                lines.append(line)
            self._parts, self._bytes, self._skips = [], 0, False
        self._keep(rest)
        return lines

    def _keep(self, part: bytes) -> None:
        self._bytes += len(part)
        if self._bytes > LINE_BYTES:
            self._parts, self._skips = [], True
        elif part:
            self._parts.append(part)
