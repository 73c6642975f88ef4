"""Puts records on a shelf: finds the note each one speaks of, makes it or brings it up to date, and counts."""

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from shelfd.memory.errors import DuplicateKey, InvalidParams
from shelfd.memory.knowledge.graph.edges import put_read
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.moving import alternatives
from shelfd.memory.moving.merging import Merger
from shelfd.memory.moving.placing import CHAT, Placement, stand_in
from shelfd.memory.moving.reconciling import Sender, digest, mark_replaced, marked, reconcile, speaks_for_another
from shelfd.memory.moving.record import (
    Gone,
    LinkRecord,
    Loss,
    MergedLinks,
    MergedNote,
    MergedNugget,
    NoteRecord,
    NuggetRecord,
    OutgoingLinks,
    Record,
    RestoredLinks,
    RestoredNote,
    RestoredNugget,
    TurnsRecord,
    TypeRecord,
)
from shelfd.memory.moving.restoring import restore_links, restore_note, restore_nugget
from shelfd.memory.moving.tally import Status, Tally
from shelfd.memory.notes.note import NEVER_USED, Link, Note, Nugget, Usage, fold_key
from shelfd.memory.notes.relations import SYMMETRIC
from shelfd.memory.shelf.nuggets import ensure_nugget, hide_surplus
from shelfd.protocol import Limits

_UNDOS: Final = frozenset({"undo", "reflection.undo"})


@dataclass(slots=True)
class Importer:
    """One import's work in one transaction.

    Attributes:
        format: Name of the format, for the marks.
        known: Where notes are that are not where their file has them: foreign ids, and digests of facts' keys, to ids
            here.
        usages: Use that the other memory knew of, by the rows of notes.
        created: New notes.
        seen: Items seen so far: their part, and what identifies them.
        absent: Ids that no note has, as far as that is known.
    """

    tx: Transaction
    limits: Limits
    format: str
    known: dict[str, str]
    usages: dict[int, Usage] = field(default_factory=dict)
    created: int = 0
    seen: set[tuple[str, int | str]] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    places: Placement = field(init=False)
    merger: Merger = field(init=False)

    def __post_init__(self) -> None:
        self.places = Placement(self.tx)
        self.merger = Merger(self.tx)

    def import_record(self, record: Record, part: str, index: int, tally: Tally) -> None:
        """Take in what an item of a part says.

        Raises:
            ShelfError: If it cannot be; nothing of it was.
        """
        match record:
            case RestoredNote():  # of these there are many, and a case is asked after the other
                self.restore_note(record, part, index, tally)
            case NuggetRecord():
                self.import_nugget(record, index, tally)
            case TurnsRecord():
                self.import_turns(record, index, tally)
            case TypeRecord():
                is_new, losses = self.places.set_type(record)
                tally.count("created" if is_new else "unchanged")
                tally.record_loss(index, [*record.losses, *losses])
            case NoteRecord():
                self.import_note(record, part, index, tally)
            case OutgoingLinks():
                self.import_links(record, index, tally)
            case RestoredNugget():
                restore_nugget(self.tx, record, tally)
            case RestoredLinks():
                restore_links(self.tx, record, self.limits.links_count, index, tally)
            case _:
                self.merge(record, part, index, tally)

    def import_turns(self, record: TurnsRecord, index: int, tally: Tally) -> None:
        """Count turns of a conversation, and have the alternatives of them live that are shown.

        Raises:
            Conflict: If it is being rewound.
        """
        session_id = record.chat.session_id
        status: Status = "created" if self.places.open(record) else "unchanged"
        for turn, variant in record.shown:
            became = alternatives.show(self.tx, session_id, turn, variant)
            if became == "kept":
                tally.kept.append((index, f"{session_id} turn {turn}", ("variant",)))
            elif became == "updated" and status == "unchanged":
                status = "updated"
        tally.count(status)

    def import_nugget(self, record: NuggetRecord, index: int, tally: Tally) -> None:
        """Make a nugget; one that is here keeps its options."""
        wanted = Nugget(
            record.name, record.dimension, record.banks, record.ensembles, record.max_facts, None, self.tx.now
        )
        here = self.tx.nugget(record.name)
        losses = list(record.losses)
        if here is None:
            self.tx.admit_name(record.name, "nugget")
            self.tx.create_nugget(wanted)
        elif here[1:5] != wanted[1:5]:
            losses.append(Loss("options", "the nugget is here with other options and keeps them"))
        tally.count("created" if here is None else "unchanged")
        tally.record_loss(index, losses)

    def import_note(self, record: NoteRecord, part: str, index: int, tally: Tally) -> None:
        """Make a note, or bring the one that is here up to date.

        Raises:
            InvalidParams: If another item spoke of the same note.
            DuplicateKey: If another note has its key; it may be about to get another one.
        """
        sender = Sender(self.format, part, record.origin, leads=part == "notes")
        self._check_first(part, record.identity)
        losses = list(record.losses)
        if record.chat is not None:
            record = self.places.placed(record, record.chat, losses)
        found, note_id, stands_for = self._find(record, part)
        if found is not None and record.parent_id is not None and self.places.is_above(found, record.parent_id):
            losses.append(Loss("parent", "represents the note that would represent it"))
            record = replace(record, parent_id=None)
        if found is None:
            note = self._create(record, sender, note_id, stands_for)
            tally.count("created")
        else:
            self._check_first(part, found.row)
            note = self._bring_up_to_date(found, record, sender, index, tally)
        self.seen |= {(part, note.row), (part, record.identity)}
        if record.usage != NEVER_USED:
            self.usages[note.row] = self.usages.get(note.row, Usage()).raised_to(record.usage)
        if record.id is not None and note.id != record.id:
            by_key = note.id == (found.id if found else "") and note.kind == "fact"
            why = "the fact with its key is here under another one" if by_key else "is another note's here"
            losses.append(Loss("id", f"{why}; links follow"))
        self._remember(record, note)
        tally.record_loss(index, losses)

    def import_links(self, outgoing: OutgoingLinks, index: int, tally: Tally) -> None:
        """Make the links that leave a note, as far as both ends are here.

        Raises:
            InvalidParams: If the note itself is not.
        """
        source = self._linked(outgoing, outgoing.source)
        if source is None:
            raise InvalidParams("id: the note that the links leave is not here", field="id")
        losses = list(outgoing.losses)
        if outgoing.replaced_by is not None:
            source = self._replace(source, outgoing.replaced_by, index, losses, tally)
        if outgoing.edges and not any(edge.engine == "llm" for edge in self.tx.rows.edges.of_note(source.row)):
            put_read(self.tx, source, outgoing.edges)  # else a model here has read it itself
        room = self.limits.links_count - self.tx.rows.links.count_leaving(source.id)
        for record in outgoing.links:
            outcome = self._link(source, record, outgoing, room)
            room -= outcome == "created"
            if isinstance(outcome, Loss):
                losses.append(outcome)
            elif outcome == "kept":
                tally.kept.append((index, source.id, ("links",)))
            else:
                tally.count(outcome)
        tally.record_loss(index, losses)

    def restore_note(self, record: RestoredNote, part: str, index: int, tally: Tally) -> None:
        """Have a note again that was on a shelf; one of its id that is here stays as it is.

        Raises:
            InvalidParams: If another item was the same note.
            DuplicateKey: If another note has its key.
        """
        self._check_first(part, record.note.id)
        created = tally.created
        is_absent = record.note.id in self.absent
        self.absent.discard(record.note.id)
        note = restore_note(self.tx, record.note, index, tally, is_absent=is_absent)
        self.created += tally.created - created
        self.seen.add((part, note.id))
        if record.usage != NEVER_USED:
            self.usages[note.row] = record.usage

    def merge(
        self, record: MergedNugget | MergedNote | MergedLinks | Gone, part: str, index: int, tally: Tally
    ) -> None:
        """Bring what is here together with what another copy of the shelf says."""
        match record:
            case MergedNugget():
                self.merger.merge_nugget(record, tally)
            case MergedNote():
                self.merge_note(record, part, index, tally)
            case MergedLinks():
                self.merger.merge_links(record, index, tally)
            case Gone():
                self.merger.merge_gone(record, tally)

    def merge_note(self, record: MergedNote, part: str, index: int, tally: Tally) -> None:
        """Bring a note together with what another copy of the shelf says of it.

        Raises:
            InvalidParams: If another item was the same note.
        """
        self._check_first(part, record.note.id)
        created = self.merger.created
        note = self.merger.merge_note(record, index, tally)
        self.created += self.merger.created - created
        self.seen.add((part, record.note.id))
        if note is not None and record.usage != Usage():
            self.usages[note.row] = record.usage

    # ------------------------------------------------------------- notes

    def _note(self, note_id: str) -> Note | None:
        return None if note_id in self.absent else self.tx.rows.notes.get(note_id)

    def _find(self, record: NoteRecord, part: str) -> tuple[Note | None, str, str | None]:
        """The note that *record* speaks of; if there is none, its id to be and what that stands for."""
        if record.id is not None:
            here = self._note(record.id)
            if here is not None and _is_same(here, record):
                return here, here.id, None
        elif record.kind == "fact" and not record.identity:
            moved = self._known_note(digest(_key_token(record)), direct=False)
            if moved is not None:
                return moved, moved.id, None
        if record.kind == "fact":
            holder = self.tx.rows.notes.fact(record.nugget, fold_key(record.title))
            if holder is not None:
                if speaks_for_another(holder, record, part):
                    raise DuplicateKey(record.nugget, holder.id)
                return holder, holder.id, None
        if record.id is not None and self._note(record.id) is None:
            return None, record.id, None
        return self._substitute(record)

    def _substitute(self, record: NoteRecord) -> tuple[Note | None, str, str]:
        """The note that stands for one whose id is no good here, or an id for it: the same one each time."""
        stands_for = digest(record.identity or _key_token(record))
        stem = record.stem or (f"{record.kind}-{record.nugget}" if record.chat is None else CHAT)
        return *stand_in(self._note, stem, stands_for), stands_for

    def _create(self, record: NoteRecord, sender: Sender, note_id: str, stands_for: str | None) -> Note:
        # The marks are of what the file says, whatever of that is admitted: the same file is no change later.
        new = marked(record.note(note_id), sender, record.says, stands_for=stands_for)
        new = self.tx.admit(new)
        nugget = ensure_nugget(self.tx, record.nugget)
        # By its turn, what came from a conversation can be taken back like what is written in one.
        session_id = new.session_id if new.turn is not None else None
        self.tx.write_in(session_id, new.turn, variant=record.variant)
        note = self.tx.create_note(new, is_free=new.key is None and note_id in self.absent)
        self.absent.discard(note_id)
        self.tx.write_in(None, None)
        if self._is_put_away(record):
            note = alternatives.put_away(self.tx, note, record.variant or 0)
        self.created += 1
        if note.key is not None and not note.hidden:
            hide_surplus(self.tx, nugget, note)
        return note

    def _bring_up_to_date(self, old: Note, record: NoteRecord, sender: Sender, index: int, tally: Tally) -> Note:
        was_undone = old.hidden and self._was_undone(old)
        new, kept = reconcile(old, record, sender, was_undone=was_undone)
        if old.hidden and not new.hidden and self._is_put_away(record):
            new = new._replace(archived_at=old.archived_at)
        new = self.tx.admit(new, old)
        nugget = ensure_nugget(self.tx, new.nugget) if old.hidden and not new.hidden else None
        note = self.tx.change_note(old, new)
        if nugget is not None and note.key is not None:
            hide_surplus(self.tx, nugget, note)
        if kept:
            tally.kept.append((index, note.id, kept))
        if note is not old:
            tally.count("updated")
        elif not kept:
            tally.count("unchanged")
        return note

    def _is_put_away(self, record: NoteRecord) -> bool:
        """Whether a record is an alternative of its turn that is not live."""
        chat = record.chat
        return chat is not None and alternatives.is_put_away(self.tx, chat.session_id, record.turn, record.variant)

    def _was_undone(self, note: Note) -> bool:
        log = self.tx.rows.log.of_note(note.row)
        if not log or log[-1].kind != "note.hidden" or log[-1].origin.method not in _UNDOS:
            return False
        run_id = log[-1].origin.run_id
        return run_id is None or not self.tx.rows.rewinds.by_run(run_id)  # else its turn was taken back once more

    def _check_first(self, part: str, what: int | str) -> None:
        """Refuse an item whose note, by its row here or its identity there, an earlier one spoke of."""
        if what and (part, what) in self.seen:
            raise InvalidParams("stands twice: an earlier item is the same note, and that one counts")

    def _remember(self, record: NoteRecord, note: Note) -> None:
        """Remember what later items cannot guess: where this note is."""
        if record.has_id and note.id != record.identity:  # else it is known by its text, which no job may keep
            self.known[record.identity] = note.id
        if record.kind == "fact" and (note.nugget, note.key) != (record.nugget, fold_key(record.title)):
            self.known[digest(_key_token(record))] = note.id

    def _known_note(self, name: str, *, direct: bool = True) -> Note | None:
        note_id = self.known.get(name, name if direct else None)
        return None if note_id is None else self.tx.rows.notes.get(note_id)

    # ------------------------------------------------------------- links

    def _linked(self, outgoing: OutgoingLinks, name: str) -> Note | None:
        if outgoing.space is not None:
            return self.places.named(outgoing.space, name)
        return self._known_note(name) if outgoing.chat is None else self.places.note(outgoing.chat, name)

    def _replace(self, note: Note, name: str, index: int, losses: list[Loss], tally: Tally) -> Note:
        """Have *note* replaced by the one called *name* there, unless that was done before; return it as it is then."""
        heir = self._known_note(name)
        if heir is None or not self.places.may_replace(heir, note.id):
            why = "the note it names is not here" if heir is None else "the note it names is replaced by this one"
            losses.append(Loss("superseded_by", why))
            return note
        marked_note = mark_replaced(note, heir.id)
        if note.superseded_by == heir.id or marked_note is note:
            return note
        if note.superseded_by is not None:
            tally.kept.append((index, note.id, ("superseded_by",)))
            return note
        tally.count("updated")
        return self.tx.change_note(note, marked_note._replace(superseded_by=heir.id), kind="note.superseded")

    def _link(
        self, source: Note, record: LinkRecord, outgoing: OutgoingLinks, room: int
    ) -> Status | Loss | Literal["kept"]:
        target, chat = self._linked(outgoing, record.target), outgoing.chat
        if target is None:
            return Loss("links", "the note that a link leads to is not here")
        if target.id == source.id:
            return Loss("links", "a note cannot link to itself")
        if record.relation in SYMMETRIC and target.row < source.row:
            source, target = target, source
            room = self.limits.links_count - self.tx.rows.links.count_leaving(source.id)
        seq_to = None if chat is None else self.places.number(chat, record.turn)
        link = Link(source.id, target.id, record.relation, record.reason(), record.created_at, seq_to=seq_to)
        admit = self.tx.admit_line
        link = link._replace(relation=admit(link.relation, "links.relation"), reason=admit(link.reason, "links"))
        old = self.tx.rows.links.get(*link[:3])
        if old is None:
            if room <= 0:
                return Loss("links", f"a note has at most {self.limits.links_count} links")
            self.tx.put_link(link, source.nugget)
            return "created"
        if old.reason == link.reason or not link.reason:
            return "unchanged"
        # More reasons than there were: the file has gained some. Anything else was written here.
        if old.reason in (record.reason(number) for number in range(len(record.reasons))):
            self.tx.put_link(link, source.nugget)
            return "updated"
        return "kept"


def _is_same(note: Note, record: NoteRecord) -> bool:
    """Whether a note with the record's id is the one it speaks of, wherever it was moved since."""
    marks = note.extra.imported
    if note.kind != record.kind:
        return False
    if record.base:
        return True  # the file was written from it
    if marks is None:
        return record.chat is None and note.nugget == record.nugget
    return marks.id is None and marks.nugget == record.origin


def _key_token(record: NoteRecord) -> str:
    """By what the fact with a key is known in the other memory."""
    return f"fact\n{record.origin}\n{fold_key(record.title)}"
