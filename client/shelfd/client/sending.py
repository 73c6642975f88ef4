"""Sends a file's items to the daemon, some at a time, and enters the answers in a report."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from shelfd.client import foreign
from shelfd.client.failure import RpcFailure
from shelfd.client.foreign import ForeignBatch
from shelfd.client.import_report import COUNTS, Report
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import complain
from shelfd.client.transport import Client

_TOO_LARGE = -32005

#: What is sent together, and that as JSON.
_Request: TypeAlias = tuple[list[ForeignBatch], bytes]


class Sending:
    """Sends items, with what earlier answers to the same format said is known.

    Attributes:
        total: How many items there are, as far as is known.
    """

    def __init__(self, client: Client, params: Mapping[str, Any], report: Report, line: ProgressLine) -> None:
        self.total = 0
        self._line = line
        self._client = client
        self._params = params
        self._report = report
        self._done = 0

    def send(self, format_: str, batches: Iterator[ForeignBatch]) -> None:
        """Send everything; an item that the daemon finds too large spoils none of the others."""
        is_dry = "dry_run" in self._params
        items, size = (foreign.REHEARSED_ITEMS, foreign.REHEARSED_BYTES) if is_dry else (foreign.ITEMS, foreign.BYTES)
        requests = _ahead(_written(foreign.requests(batches, items=items, size=size)))
        known: dict[str, str] = {}
        waiting: list[_Request] = []
        sent = 0
        while (one := waiting.pop() if waiting else next(requests, None)) is not None:
            request, parts = one
            sent += 1
            if is_dry and sent == 2:
                complain(
                    "this is more than one dry run can hold: what needs items of an earlier part counts as missing"
                )
            count = sum(len(batch.items) for batch in request)
            method = "shelf.merge" if format_ == "merge" else "shelf.import"
            params = {**self._params, "format": format_, "known": known}
            try:
                result = self._client.call(method, params, written={"parts": parts})
            except RpcFailure as failure:
                if failure.code != _TOO_LARGE:
                    raise
                if count > 1:  # one of the items is too deep or too large: the others need not suffer
                    waiting += reversed(list(_written(foreign.halves(request))))
                    continue
                error = {"code": failure.code, "message": failure.message, "data": failure.data}
                none = {**dict.fromkeys(COUNTS, 0), "rejected": [{"index": 0, "error": error}]}
                self._report.add(request[:1], [{**none, "kept": [], "not_kept": []}])
            else:
                known |= result["known"]
                self._report.last_seq = result["last_seq"]
                self._report.add(request, result["parts"])
            self._done += count
            self._line.update(self._done, self.total)


def _written(requests: Iterable[list[ForeignBatch]]) -> Iterator[_Request]:
    """Yield each of *requests*, and its parts as they are sent."""
    for request in requests:
        yield request, b"[%b]" % b",".join(batch.as_part() for batch in request)


def _ahead(requests: Iterator[_Request]) -> Iterator[_Request]:
    """Iterate over *requests*; the next one is made of its file while the daemon is busy with the one before.

    All are made by one thread, so what they are read from need not be shared between threads.
    """
    from concurrent.futures import ThreadPoolExecutor  # only here: no other command needs threads

    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, requests, None)
        try:
            while (request := following.result()) is not None:
                following = reader.submit(next, requests, None)
                yield request
        finally:
            reader.submit(getattr(requests, "close", lambda: None)).result()
