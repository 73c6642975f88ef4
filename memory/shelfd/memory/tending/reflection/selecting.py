"""Step: choose what a run looks at, so that nothing is left out for good.

A run looks at a bounded number of notes: first at those that are new or were changed since the last one, then once
more at some of the others, going round. Of these it inspects a few: those that a step would improve come first.
Nuggets take turns.
"""

from collections.abc import Sequence
from typing import Final

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.tending import Tended
from shelfd.memory.tending.reflection.picture import Picture
from shelfd.memory.tending.reflection.step import Improve, Planning, Step
from shelfd.memory.tending.reflection.visits import Position, Visit, position_of

#: Notes looked at in one run.
LOOKED: Final = 1000
#: Rows read in one run: what is hidden costs a tenth of a look.
_ROWS: Final = 10
_PAGE: Final = 16  # rows read at once
_COUNTED: Final = 1000  # positions read at once
_NUGGETS: Final = 200  # nuggets read at once
_START: Position = (-1, -1)


class _Search:
    """The notes found so far, and what is left of the run's allowance."""

    def __init__(self, picture: Picture, improvements: Sequence[Improve]) -> None:
        self.picture = picture
        self.improvements = improvements
        self.allowance = LOOKED * _ROWS
        self.changed_needy: list[str] = []
        self.again_needy: list[str] = []
        self.changed_fine: list[str] = []
        self.again_fine: list[str] = []

    def look(self, page: list[Note], visit: Visit, *, again: bool) -> Planning[None]:
        """Take the notes of *page* that reflection looks at."""
        picture = self.picture
        notes = [note for note in page if picture.is_live(note)]
        self.allowance -= len(page) + (_ROWS - 1) * len(notes)
        usage = picture.usage(notes)
        for note in notes:
            hits = usage[note.row].hits if note.row in usage else 0
            is_needy = any(improve(note, hits, picture) is not None for improve in self.improvements)
            visit.ids.append(note.id)
            if again:
                (self.again_needy if is_needy else self.again_fine).append(note.id)
            else:
                (self.changed_needy if is_needy else self.changed_fine).append(note.id)
            yield None

    def choose(self) -> None:
        """Say what is inspected: what needs it, an old note in four if there are such; then who else has turn."""
        picture = self.picture
        kept = min(len(self.again_needy), picture.limit // 4)
        first = self.changed_needy[: picture.limit - kept]
        needy = [*first, *self.again_needy, *self.changed_needy[len(first) :]]
        order = [*needy, *self.again_fine, *self.changed_fine]
        picture.inspected = order[: picture.limit]
        picture.left |= set(needy[picture.limit :])
        picture.looked = [note_id for visit in picture.visits for note_id in visit.ids]


def selecting(improvements: Sequence[Improve]) -> Step:
    """Return the step that selects, asking *improvements* which notes need something."""

    def plan(picture: Picture) -> Planning[None]:
        search = _Search(picture, improvements)
        for tended in (yield from _turns(picture)):
            if search.allowance <= 0:
                yield from _count_unseen(picture, tended.nugget, tended.changed)
                continue
            visit = Visit.of(tended)
            picture.visits.append(visit)
            search.allowance -= _ROWS  # looking at nothing is work, too
            yield from _visit(search, visit)
            if search.allowance <= 0:
                yield from _count_unseen(picture, tended.nugget, visit.changed)
        search.choose()
        yield None

    return Step("select", plan, lambda _picture, _note, _other: None)


def _turns(picture: Picture) -> Planning[list[Tended]]:
    """The nuggets, who has waited longest first."""
    names: list[str] = []
    if picture.nugget is not None:
        names = [picture.nugget]
    else:
        after = ""
        while page := picture.view.nuggets.page(after=after, limit=_NUGGETS):
            names += [nugget.name for nugget in page]
            after = names[-1]
            yield None
    known = {tended.nugget: tended.as_of(picture.now) for tended in picture.view.tended.all()}
    yield None
    turns = [known.get(name) or Tended(name) for name in names]
    turns.sort(key=lambda tended: (tended.served_at, tended.nugget))
    return turns


def _count_unseen(picture: Picture, nugget: str, after: Position) -> Planning[None]:
    """Count the notes of a nugget that are new or changed and that the run has no allowance to look at."""
    while positions := picture.view.notes.changed_positions(nugget, after=after, limit=_COUNTED):
        picture.unseen += len(positions)
        after = positions[-1]
        yield None
    yield None


def _visit(search: _Search, visit: Visit) -> Planning[None]:
    """Look at what is new, but for a quarter of the allowance; then at the others again; then at more that is new."""
    begin = visit.tended.changed
    yield from _forward(search, visit, search.allowance // 4)
    after = visit.tended.again
    if (yield from _again(search, visit, after, begin)):
        visit.is_round = yield from _again(search, visit, _START, min(after, begin))
    yield from _forward(search, visit, 0)


def _forward(search: _Search, visit: Visit, spared: int) -> Planning[None]:
    while search.allowance > spared and (page := _page(search, visit, visit.changed)):
        yield from search.look(page, visit, again=False)
        visit.changed = position_of(page[-1])
        yield None


def _again(search: _Search, visit: Visit, after: Position, until: Position) -> Planning[bool]:
    """Look at the notes behind *after* up to *until* once more; return whether it came that far."""
    while search.allowance > 0:
        if after >= until or not (page := _page(search, visit, after)):
            return True
        page = [note for note in page if position_of(note) <= until]
        if not page:
            return True
        yield from search.look(page, visit, again=True)
        visit.again += [(position_of(note), note.id) for note in page]
        after = position_of(page[-1])
        yield None
    return False


def _page(search: _Search, visit: Visit, after: Position) -> list[Note]:
    """The next notes of the nugget, hidden ones included: passing over many of those would take long."""
    wanted = NoteFilter(nugget=visit.tended.nugget, include_hidden=True)
    return search.picture.view.notes.page(wanted, order="updated_at", descending=False, after=after, limit=_PAGE)
