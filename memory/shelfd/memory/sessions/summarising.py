"""What a rollup says: worded by a language model if one may see the notes, else their own sentences."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from shelfd.memory.errors import TooLarge
from shelfd.memory.notes.digest import digest
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut, tidy_content
from shelfd.memory.ports.language_model import NO_ANSWER, ModelQuestion, Passage
from shelfd.memory.sessions.rollups import RollupSummary
from shelfd.memory.sessions.schema import NoteType
from shelfd.memory.shelf.shelf import Shelf

#: Words what a rollup of notes of a type, in the order of time, is to say.
Summarise: TypeAlias = Callable[[Shelf, NoteType, Sequence[Note]], Awaitable[RollupSummary]]

_LONGEST: Final = 4_000
_REPLY_TOKENS: Final = 800
#: Of the model's context, what the notes' text may take; and about how many characters a token has.
_SHARE: Final = 0.6
_PER_TOKEN: Final = 3
_INSTRUCTIONS: Final = """\
"notes" are entries of one kind, in the order of time. Answer with a summary that can stand for them: what happened or
holds, who and what it was about, and how it ended, in the language of the notes. Say nothing that they do not say.
Leave out what later entries have made void. If "depth" is above 1 the entries are summaries themselves: be more
general. A few sentences; if "wishes" asks for something else, that."""


class WordedSummary(BaseModel):
    """What a model answers."""

    model_config = ConfigDict(extra="ignore")

    summary: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


async def summarise(shelf: Shelf, kind: NoteType, notes: Sequence[Note]) -> RollupSummary:
    """Return what the rollup of *notes* is to say. A model that fails, or says nothing, is made up for."""
    if shelf.model.may_see(notes[0].nugget):
        try:
            reply = await shelf.model.ask(_question(kind, notes, shelf.model.context_tokens))
        except (*NO_ANSWER, TooLarge):
            pass
        else:
            if content := tidy_content(reply.value.summary).strip():
                return RollupSummary(content, "inferred")
    return RollupSummary(digest(notes), "agent_reflection")


def _question(kind: NoteType, notes: Sequence[Note], context_tokens: int) -> ModelQuestion[WordedSummary]:
    nugget = notes[0].nugget
    room = int(context_tokens * _SHARE * _PER_TOKEN) // len(notes)
    shown: list[dict[str, Any]] = [{"title": note.title, "text": cut(note.content, room)} for note in notes]
    depth = 1 + max(note.extra.rollup_depth for note in notes)
    passages = [
        Passage("notes", nugget, shown),
        Passage("depth", None, depth),
        Passage("wishes", nugget, kind.compression.summarize_instruction),
    ]
    return ModelQuestion("rollup.summary", _INSTRUCTIONS, passages, WordedSummary, _REPLY_TOKENS)
