"""What can be taken back: runs, and transactions in which a note replaced another, as the change log has them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from shelfd.client.failure import RpcFailure
from shelfd.client.hints import command_of
from shelfd.client.output import clean, counted, local_time
from shelfd.client.transport import Client

Row = Mapping[str, Any]

PAGE: Final = 1000
#: Changes that are looked through, the last first.
MOST: Final = 50 * PAGE
_NOT_IN_LOG: Final = -32013
_NOT_FOUND: Final = -32001
#: What only an undo does, or one that was cut short has begun.
_UNDOING: Final = ("undo", "reflection.undo")
#: What a run did that is not taken back by asking for the last one: a file was written, text is gone.
_NOT_BY_DEFAULT: Final = ("promotion.completed", "note.purged", "note.promoted")
#: What changes of a run begin with that are no change of a note.
_NO_CHANGE: Final = ("reflection.", "schedule.", "context.")
_LOOKED_AT: Final = 20  #: notes of a transaction of which is asked whether another one still stands for them
_NAMED: Final = 3  #: nuggets that are named
#: What a person calls what these methods do.
_CALLED: Final = {
    "reflect": "reflection", "reflect_and_clean_memory": "reflection", "remember_report": "report",
    "remember_with_extraction": "facts of a text", "shelf.import": "import", "shelf.merge": "merge",
    "session.retract_turns": "rewind", "session.select_variant": "another variant", "session.branch": "branch",
    "session.compact": "rollup", "session.extract": "conversation", "nugget.clear": "nuggets clear",
    "nugget.remove": "nuggets remove", "shelf.restore": "restore",
}  # fmt: skip
#: Methods that write into a nugget; others change what is in it.
_INTO: Final = ("remember_report", "remember_with_extraction", "shelf.import", "session.extract", "session.branch")
#: By the kind of a change, what was done to a note, and what it is counted as if it was created as well.
_DONE: Final = {
    "note.created": "added", "note.superseded": "superseded", "note.merged": "merged", "note.hidden": "hidden",
    "note.restored": "restored", "note.purged": "purged", "note.updated": "changed", "note.promoted": "promoted",
    "note.expired": "expired",
}  # fmt: skip


@dataclass
class Undoable:
    """A run, or a transaction of no run, and what it changed.

    Attributes:
        run_id: None for a transaction of no run.
        tx: The number of its first change, by which a transaction is taken back.
        at: When it began.
        changes: Of the log, the last first; those that were taken back by themselves are left out.
        reached: How many changes of the log had been read when the last one of it was found.
        taken_back: Whether an undo that stands has taken it back.
    """

    run_id: str | None
    tx: int
    at: str
    principal: str
    method: str
    reached: int
    taken_back: bool
    changes: list[Row] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What ``shelfd undo`` takes for it."""
        return str(self.tx) if self.run_id is None else self.run_id

    @property
    def is_undo(self) -> bool:
        """Whether it took something back itself."""
        return self.method in _UNDOING

    @property
    def is_offered(self) -> bool:
        """Whether ``shelfd undo`` takes it back without being told its name, if it is the last one."""
        kinds = {change["kind"] for change in self.changes}
        return (
            not self.taken_back
            and not self.is_undo
            and kinds.isdisjoint(_NOT_BY_DEFAULT)
            and any(not kind.startswith(_NO_CHANGE) for kind in kinds)
        )

    @property
    def what(self) -> str:
        """What a person calls it."""
        return _CALLED.get(self.method) or command_of(self.method)

    @property
    def extent(self) -> str:
        """Where it changed how much, in words."""
        nuggets = sorted({str(change["nugget"]) for change in self.changes if change.get("nugget")})
        where = ", ".join(map(clean, nuggets)) if len(nuggets) <= _NAMED else f"{len(nuggets)} nuggets"
        how_much = ", ".join((*self._counts(), *self.beside_notes())) or "nothing"
        preposition = "into" if self.method in _INTO else "in"
        return f"{preposition} {where}: {how_much}" if where else how_much

    @property
    def in_words(self) -> str:
        """What it is, where it changed how much, and when."""
        return f"{self.what} {self.extent}, {local_time(self.at)}"

    def by_note(self) -> dict[str, list[str]]:
        """By the id of each note, what was done to it, the first first."""
        found: dict[str, list[str]] = {}
        for change in reversed(self.changes):
            if change["kind"] in _DONE and change["ids"]:
                found.setdefault(change["ids"][0], []).append(change["kind"])
        return found

    def _counts(self) -> Iterator[str]:
        done = Counter(next(kind for kind in _DONE if kind in kinds) for kinds in self.by_note().values())
        is_first = True
        for kind, word in _DONE.items():
            if done[kind]:
                yield f"{counted(done[kind], 'note')} {word}" if is_first else f"{done[kind]} {word}"
                is_first = False

    def beside_notes(self) -> Iterator[str]:
        """In words, how much was changed that is no note."""
        kinds = Counter(change["kind"].partition(".")[0] for change in self.changes)
        for of in ("link", "conflict", *(() if kinds["note"] else ("nugget", "session"))):
            if kinds[of]:
                yield f"{counted(kinds[of], 'change')} of {of}s"


class Undoables:
    """What was found in the log so far."""

    def __init__(self, client: Client, shelf: str, *, named: str | None, offered: bool) -> None:
        self._client, self._shelf = client, shelf
        self._named, self._offered = named, offered
        self._undone: set[str | int] = set()  #: runs and transactions that are taken back
        self._known: dict[str | int, Undoable] = {}
        self._tx: list[Row] = []  #: changes of a transaction of no run, of which is not known yet whether it counts
        self._read = 0
        self._found: list[Undoable] = []
        self.latest: Row | None = None  #: the last change of all

    def look(self, many: int) -> None:
        """Read the log from its end until *many* are known, and all that they did."""
        for row in _log_back(self._client, self._shelf):
            self.latest = self.latest or row
            self._add(row)
            self._read += 1
            if self._read % PAGE == 0 and self._are_settled(many):
                break
        self._end_transaction()
        self._found = self._wanted()[:many]

    def take(self, tx: int) -> None:
        """Read one transaction, whatever it changed."""
        since = tx - 1
        while rows := self._client.call("shelf.log", {"since_seq": since, "limit": PAGE, "shelf": self._shelf})["log"]:
            for row in rows:
                if row["tx"] == tx and (self._known or row["seq"] == tx):
                    self._add_to(tx, row)
            since = rows[-1]["seq"]
            if rows[-1]["tx"] != tx:
                break
        self._found = self._wanted()
        for one in self._found:
            one.changes.reverse()

    @property
    def first(self) -> Undoable | None:
        """What was done last of them."""
        return self._found[0] if self._found else None

    def __iter__(self) -> Iterator[Undoable]:
        return iter(self._found)

    def _wanted(self) -> list[Undoable]:
        if self._named is not None:
            return [one for one in self._known.values() if one.name == self._named]
        return [one for one in self._known.values() if one.changes and (one.is_offered or not self._offered)]

    def _are_settled(self, many: int) -> bool:
        wanted = self._wanted()[:many]
        return len(wanted) == many and all(self._read - one.reached > PAGE for one in wanted)

    def _add(self, row: Row) -> None:
        if self._tx and self._tx[0]["tx"] != row["tx"]:
            self._end_transaction()
        run_id = row.get("run_id")
        if run_id is None:
            self._tx.append(row)
            return
        if row["kind"] == "reflection.undone":
            self._note_undone(row, run_id)
        self._add_to(run_id, row)

    def _add_to(self, key: str | int, row: Row) -> None:
        one = self._known.get(key)
        if one is None:
            run_id = key if isinstance(key, str) else None
            about = (row["tx"], row["at"], row["principal"], row["method"], self._read)
            one = self._known[key] = Undoable(run_id, *about, taken_back=key in self._undone)
        one.at, one.tx, one.reached = row["at"], row["tx"], self._read
        if one.taken_back or row["tx"] not in self._undone:
            one.changes.append(row)

    def _end_transaction(self) -> None:
        rows, self._tx = self._tx, []
        if not any(row["kind"] == "note.superseded" for row in rows):
            return
        key = rows[0]["tx"]
        if key not in self._undone and not self._still_stands(rows):
            self._undone.add(key)
        for row in rows:
            self._add_to(key, row)

    def _still_stands(self, rows: list[Row]) -> bool:
        """Whether a note is superseded still: it may count again, by other means than an undo that the log names."""
        for row in islice((row for row in rows if row["kind"] == "note.superseded"), _LOOKED_AT):
            try:
                note = self._client.call("note.get", {"id": row["ids"][0], "shelf": self._shelf})["note"]
            except RpcFailure as failure:
                if failure.code != _NOT_FOUND:
                    raise
                continue  # purged
            if note.get("superseded_by"):
                return True
        return False

    def _note_undone(self, row: Row, run_id: str) -> None:
        """Note what an undo has taken back, if it stands itself."""
        if run_id in self._undone:
            return
        event = _event(self._client, self._shelf, row)
        of = (event.get(name) for name in ("undone_run_id", "undone_tx"))
        self._undone.update(one for one in of if one is not None)


def look_for(client: Client, shelf: str, *, many: int, named: str | None = None, offered: bool = False) -> Undoables:
    """Look for what can be taken back, the last first.

    Args:
        many: No more than so many.
        named: Only what ``shelfd undo`` takes by this name.
        offered: Only what it takes without a name.
    """
    found = Undoables(client, shelf, named=named, offered=offered)
    found.look(many)
    return found


def look_for_transaction(client: Client, shelf: str, tx: int) -> Undoables:
    """Look for the transaction with this number.

    Returns:
        Nothing if none has it.
    """
    found = Undoables(client, shelf, named=str(tx), offered=False)
    found.take(tx)
    return found


def _log_back(client: Client, shelf: str) -> Iterator[Row]:
    """Iterate over the changes, the last first, as far as the log reaches and is worth a wait."""
    before = client.call("get_stats", {"shelf": shelf})["last_seq"]
    for _ in range(MOST // PAGE if before else 0):
        since = max(0, before - PAGE)
        try:
            page = client.call("shelf.log", {"since_seq": since, "limit": before - since, "shelf": shelf})["log"]
        except RpcFailure as failure:
            if failure.code == _NOT_IN_LOG:
                return
            raise
        yield from reversed(page)
        if (before := since) == 0:
            return


def transaction_of(client: Client, shelf: str, seq: int) -> int | None:
    """Return the number of the transaction in which change *seq* was made; None if the log has it no more."""
    rows = client.call("shelf.log", {"since_seq": seq - 1, "limit": 1, "shelf": shelf})["log"]
    return int(rows[0]["tx"]) if rows and rows[0]["seq"] == seq else None


def superseding(client: Client, shelf: str, note_id: str) -> int | None:
    """Return the number of the transaction that superseded a note last; None if its history has none."""
    params, last = {"id": note_id, "limit": PAGE, "shelf": shelf}, None
    while True:
        page = client.call("note.history", params)
        seqs = [version["seq"] for version in page["versions"] if version["kind"] == "note.superseded"]
        last = seqs[-1] if seqs else last
        if "next_cursor" not in page:
            return None if last is None else transaction_of(client, shelf, last)
        params["cursor"] = page["next_cursor"]


def resolving(client: Client, shelf: str, conflict_id: str) -> int | None:
    """Return the number of the transaction that resolved a conflict last; None if it was too long ago."""
    for row in _log_back(client, shelf):
        if row["kind"] == "conflict.resolved" and _event(client, shelf, row).get("conflict") == conflict_id:
            return int(row["tx"])
    return None


def _event(client: Client, shelf: str, row: Row) -> Mapping[str, Any]:
    """Return what the event of a change says; that has more than the log."""
    data: dict[str, Any] = {}
    for event in client.call("events.since", {"seq": row["seq"] - 1, "limit": 1, "shelf": shelf})["events"]:
        data |= event["data"]
    return data


def command_to_undo(name: str | int, shelf: str) -> str:
    """Return what to type to take something back."""
    return f"shelfd undo {name}" + ("" if shelf == "default" else f" --shelf {shelf}")
