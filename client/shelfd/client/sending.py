"""Sends a file's items to the daemon, some at a time, and enters the answers in a report."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final, TypeAlias

from shelfd.client import foreign
from shelfd.client.failure import RpcFailure
from shelfd.client.foreign import ForeignBatch
from shelfd.client.import_report import COUNTS, Report
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import complain, warn
from shelfd.client.transport import Client

_TOO_LARGE = -32005
#: Items and bytes of one request. Of a snapshot, in which no note waits for another, it is one step of the daemon's,
#: which has to be kept nowhere until it is done.
_SIZES: Final = {"shelfd": (336, 512 * 1024)}
#: Formats whose notes say nothing of each other: requests with such go along with others that are under way, so that
#: the daemon need not wait for the next one. What has to come before them goes by itself, and need not wait for them.
_ALONE: Final = frozenset({"shelfd"})
_MOST_UNDER_WAY: Final = 3
#: A daemon of an earlier version knows no param by which a request belongs to the run of another.
_OLDER: Final = (
    "the daemon is older than this command: each request is a run of its own, which shelfd log --json names;"
    " restart it to have all of a file be one run"
)

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
        self._under_way: deque[tuple[list[ForeignBatch], int]] = deque()  # and what each was begun as
        self._run_id: str | None = None  # of the first request, with whose run the others go on
        self._is_one_run = True  # as far as is known: the daemon takes that it is
        self._done = 0

    def expect(self, count: Callable[[], int]) -> None:
        """Add to the total what *count* returns, which is called only if anybody sees it.

        Raises:
            Unusable: If *count* does.
        """
        if self._line.is_shown:
            self.total += count()

    def send(self, format_: str, batches: Iterator[ForeignBatch]) -> None:
        """Send everything; an item that the daemon finds too large spoils none of the others."""
        is_dry = "dry_run" in self._params
        items, size = _SIZES.get(format_, (foreign.ITEMS, foreign.BYTES))
        if is_dry:
            items, size = foreign.REHEARSED_ITEMS, foreign.REHEARSED_BYTES
        cut = foreign.requests_alone if format_ in _ALONE and not is_dry else foreign.requests
        requests = _ahead(_written(cut(batches, items=items, size=size)))
        self._under_way.clear()
        self._run_id = None
        known: dict[str, str] = {}
        waiting: list[_Request] = []
        sent = 0
        while True:
            while (one := waiting.pop() if waiting else next(requests, None)) is not None:
                if self._under_way and (is_dry or not self._may_go_along(format_, one)):
                    waiting.append(one)
                    break
                sent += 1
                if is_dry and sent == 2:
                    complain(
                        "this is more than one dry run can hold: what needs items of an earlier part counts as missing"
                    )
                self._begin(format_, known, one)
            if not self._under_way:
                return
            requests_ended, result = self._end()
            if result is None:
                waiting += reversed(list(_written(requests_ended)))
                continue
            known |= result["known"]
            self._done += sum(len(batch.items) for request in requests_ended for batch in request)
            self._line.update(self._done, self.total)

    def _may_go_along(self, format_: str, one: _Request) -> bool:
        """Whether a request may be sent while others of its format are under way."""
        is_alone = format_ in _ALONE and all(batch.part == "notes" for batch in one[0])
        return is_alone and self._is_one_run and self._run_id is not None and len(self._under_way) < _MOST_UNDER_WAY

    def _begin(self, format_: str, known: Mapping[str, str], one: _Request) -> None:
        request, parts = one
        method = "shelf.merge" if format_ == "merge" else "shelf.import"
        params = {**self._params, "format": format_, "known": known}
        if self._is_one_run and self._run_id is not None:
            params["run_id"] = self._run_id
        self._under_way.append((request, self._client.begin(method, params, written={"parts": parts})))

    def _end(self) -> tuple[Sequence[list[ForeignBatch]], dict[str, Any] | None]:
        """Wait for the first answer and enter it; return the request and its result, or what to send instead and None.

        That is its halves if it was too large: one of the items is too deep or too large, the others need not suffer.
        """
        request, begun = self._under_way.popleft()
        try:
            result: dict[str, Any] = self._client.end(begun)
        except RpcFailure as failure:
            if self._is_one_run and self._run_id is not None and failure.data.get("field") == "run_id":
                self._is_one_run = False
                warn(_OLDER)
            if failure.data.get("field") == "run_id" and not self._is_one_run:
                return [request], None  # those under way with it, too; nothing of them was done
            if failure.code != _TOO_LARGE:
                raise
            if sum(len(batch.items) for batch in request) > 1:
                return foreign.halves(request), None
            error = {"code": failure.code, "message": failure.message, "data": failure.data}
            none = {**dict.fromkeys(COUNTS, 0), "rejected": [{"index": 0, "error": error}]}
            self._report.add(request[:1], [{**none, "kept": [], "not_kept": []}])
            return [request], {"known": {}}
        self._run_id = result.get("run_id")
        self._report.last_seq = result["last_seq"]
        self._report.add(request, result["parts"])
        return [request], result


def _written(requests: Iterable[list[ForeignBatch]]) -> Generator[_Request]:
    """Yield each of *requests*, and its parts as they are sent."""
    for request in requests:
        yield request, b"[%b]" % b",".join(batch.as_part() for batch in request)


def _ahead(requests: Generator[_Request]) -> Generator[_Request]:
    """Iterate over *requests*; the next one is made of its file while the daemon is busy with the one before.

    All are made by one thread, so what they are read from need not be shared between threads.
    """
    from queue import SimpleQueue  # only here: no other command needs threads
    from threading import Semaphore, Thread

    made: SimpleQueue[_Request | Exception | None] = SimpleQueue()
    is_wanted, wanted = True, Semaphore()

    def read() -> None:
        with closing(requests):
            try:
                while wanted.acquire() and is_wanted:
                    made.put(next(requests, None))
            except Exception as error:  # noqa: BLE001 - raised where it is known what to do
                made.put(error)

    reader = Thread(target=read)
    reader.start()
    try:
        while (one := made.get()) is not None:
            if isinstance(one, Exception):
                raise one
            wanted.release()
            yield one
    finally:
        is_wanted = False
        wanted.release()
        reader.join()
