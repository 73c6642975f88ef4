"""HTTP to the model's server: the only file that knows the library. Imported when the first question is asked.

A server that is a stranger's cannot make us follow it elsewhere, read for ever, unpack what is larger than it looks,
or trust a certificate that the machine does not.
"""

import ssl
from typing import NamedTuple

import anyio  # what httpx2 is made with
import httpx2

from shelfd.models.failure import AttemptFailed
from shelfd.models.settings import ModelSettings

_CONNECT_S = 10.0
_KEEP_ALIVE_S = 30.0


class HttpAnswer(NamedTuple):
    """A status, the body of one in the 200s, and when to come again, if the server said so."""

    status: int
    body: bytes
    retry_after: str | None


class Transport:
    """One server.

    Raises:
        OSError: If the file of certificates cannot be used.
    """

    def __init__(self, settings: ModelSettings) -> None:
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "shelfd"}
        if settings.api_key is not None:
            headers["Authorization"] = f"Bearer {settings.api_key}"
        # What is loaded with the first request takes as long as the rest: here it does not hold up the event loop.
        anyio.run(anyio.sleep, 0)
        self._base = settings.url.rstrip("/")
        self._max_bytes = settings.max_reply_bytes
        context = ssl.create_default_context(cafile=settings.ca_file or None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._client = httpx2.AsyncClient(
            headers=headers,
            verify=context,
            trust_env=False,  # no proxy, no .netrc, no certificates that only the environment names
            follow_redirects=False,
            timeout=httpx2.Timeout(None, connect=_CONNECT_S),  # the whole attempt has a limit of its own
            limits=httpx2.Limits(max_connections=settings.concurrency + 1, keepalive_expiry=_KEEP_ALIVE_S),
        )

    async def post(self, path: str, body: bytes) -> HttpAnswer:
        """Send JSON and return the answer.

        Raises:
            AttemptFailed: If there is none, or it is too long.
        """
        return await self._send("POST", path, body)

    async def get(self, path: str) -> HttpAnswer:
        """Ask for something and return the answer; raises as :meth:`post` does."""
        return await self._send("GET", path, None)

    async def _send(self, method: str, path: str, body: bytes | None) -> HttpAnswer:
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            async with self._client.stream(method, self._base + path, content=body, headers=headers) as response:
                content = await self._read(response) if response.is_success else b""
                return HttpAnswer(response.status_code, content, response.headers.get("retry-after"))
        except httpx2.HTTPError as error:
            raise _in_words(error) from None

    async def _read(self, response: httpx2.Response) -> bytes:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            text = "the language model's server packs its replies although asked not to"
            raise AttemptFailed(text, is_retried=False)
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_raw():
            size += len(part)
            if size > self._max_bytes:
                text = f"the language model's reply is longer than llm.max_reply_bytes, {self._max_bytes}"
                raise AttemptFailed(text, "REPLY_TOO_LONG", is_retried=False)
            parts.append(part)
        return b"".join(parts)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _in_words(error: httpx2.HTTPError) -> AttemptFailed:
    """What went wrong, without the library's words, which may quote the address."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            text = "the language model's server has a certificate that is not trusted: see llm.ca_file"
            return AttemptFailed(text, "CERTIFICATE", is_retried=False)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.ConnectTimeout | httpx2.ConnectError):
        return AttemptFailed("the language model's server cannot be reached", "MODEL_UNREACHABLE")
    return AttemptFailed("the connection to the language model's server broke off", "MODEL_UNREACHABLE")
