"""Use cases on aliases: names that mean the same."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Conflict, InvalidParams, QuotaExceeded
from shelfd.memory.facts.lexicon import STOP_WORDS
from shelfd.memory.knowledge.entities.aliases import ALIASES_KNOWN, Aliases, built_in
from shelfd.memory.knowledge.entities.kinds import EntityName, family, key_of, shown
from shelfd.memory.knowledge.entities.segment import word_lists
from shelfd.memory.knowledge.position import read_again
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.caught_up import read_all, read_for_entities
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.entities import checked_type
from shelfd.memory.methods.registry import change, procedure, read
from shelfd.memory.notes.words import fold, split
from shelfd.memory.ports.entities import StoredAlias
from shelfd.memory.ports.log import Entry
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol.methods.entities import AliasAddParams, AliasListParams, AliasParams

#: Kinds of changes. They tell the type and no names: a purge would have to look for these in the log.
ADDED: Final = "alias.added"
REMOVED: Final = "alias.removed"


def _renew(_context: Context, shelf: Shelf, _changed: Changed) -> None:
    shelf.enrichment.wake()


@change("alias.add", then=_renew)
def add(tx: Transaction, params: AliasAddParams, call: Call) -> Outcome:
    """Say that two names mean the same.

    Raises:
        InvalidParams: If the two are one, or there is no such type, or one of them is nothing that notes can be looked
            through for.
        Conflict: If the other is, by however many steps, an alias of this one.
        QuotaExceeded: If callers gave or took back as many aliases as a shelf knows.
    """
    type_ = checked_type(params.type, "type", call)
    _check_name(params.alias, "alias")
    _check_name(params.canonical, "canonical")
    key, canonical = key_of(type_, params.alias), key_of(type_, params.canonical)
    if key == canonical:
        raise InvalidParams("alias: is the same name as canonical", field="alias")
    tx.admit_name(params.alias, "alias")  # what was left of two of them would be one name
    tx.admit_name(params.canonical, "canonical")
    stored = tx.rows.entities.aliases(limit=ALIASES_KNOWN)
    known = Aliases(stored)
    if key in known.chain(type_, params.canonical):
        raise Conflict("canonical: is itself an alias of this name; remove that first", field="canonical")
    replaced: dict[str, Any] = {}
    is_new = known.chain(type_, params.alias)[:1] != [canonical]
    if is_new:
        if (before := known.meant_by(type_, params.alias)) is not None:
            replaced = {"replaced": shown(type_, before)}
        name = EntityName(family(type_), key)
        alias = StoredAlias(*name, params.alias, canonical, params.canonical, type_, 0, tx.now)
        _put(tx, alias, stored)
        gone = [one for one in stored if one[:2] == name and not one.note]
        read_again(tx, [params.alias, params.canonical, *_names(gone)])
        tx.log(Entry(ADDED, None, (), None, {"type": name.type}))
        known = Aliases([alias, *(one for one in stored if one not in gone)])
    names = {"alias": shown(type_, params.alias), "canonical": known.canonical(type_, params.alias)}
    return {**names, "added": is_new, **replaced}


def _check_name(name: str, field: str) -> None:
    """Refuse what notes cannot be looked through for, or what nearly every note has.

    Raises:
        InvalidParams: If it is that.
    """
    words = split(fold(name))
    if not words:
        raise InvalidParams(
            f"{field}: has no letter and no digit, so that no text can be looked through for it", field=field
        )
    if len(words) == 1 and words[0] in STOP_WORDS - word_lists()["ambiguous_names"] and not _is_acronym(name):
        raise InvalidParams(f"{field}: is a word that nearly every text has, and no name", field=field)


def _is_acronym(name: str) -> bool:
    return len(name) > 1 and name.isupper()


def _put(tx: Transaction, alias: StoredAlias, stored: Sequence[StoredAlias]) -> None:
    """Store what a caller says of a name, if it is among the first that a shelf knows."""
    given = [one for one in stored if not one.note]
    if len(given) >= ALIASES_KNOWN and not any(one[:2] == alias[:2] for one in given):
        message = f"a shelf has at most {ALIASES_KNOWN} aliases that callers gave or took back"
        raise QuotaExceeded(message, field="alias", limit=ALIASES_KNOWN)
    tx.rows.entities.put_alias(alias)


@procedure("alias.remove")
async def remove(context: Context, call: Call) -> dict[str, Any]:
    """Take back that a name means the same as another: no note that says so makes it one again.

    What a caller's alias had replaced, as what everybody knows, holds again.

    Raises:
        QuotaExceeded: As for ``alias.add``.
        Unavailable: If there is no such alias yet, and notes that may say it are still being read.
    """
    params = cast("AliasParams", call.params)
    type_ = checked_type(params.type, "type", call)
    shelf = await context.shelf(call)
    if not shelf.enrichment.is_alias(type_, params.alias):
        await read_all(shelf, call)
    done = await context.carry_out(shelf, call, lambda tx: _remove(tx, type_, params.alias))
    shelf.enrichment.wake()
    return done


def _remove(tx: Transaction, type_: str, alias: str) -> Outcome:
    name = EntityName(family(type_), key_of(type_, alias))
    stored = tx.rows.entities.aliases(limit=ALIASES_KNOWN)
    if not (chain := Aliases(stored).chain(type_, alias)):
        return {"removed": False}
    own = [one for one in stored if one[:2] == name]
    others = [one for one in own if one.canonical != chain[0]]
    before = Aliases([*(one for one in stored if one not in own), *others]).meant_by(type_, alias)
    is_caller_s = bool(own) and not own[0].note and own[0].canonical == chain[0]
    tx.rows.entities.delete_aliases(*name)
    tx.log(Entry(REMOVED, None, (), None, {"type": name.type}))
    read_again(tx, [alias, *_names(own)])
    if is_caller_s and before is not None and len(own) == len(others) + 1:  # no note says it, so none will teach it
        for one in others:
            tx.rows.entities.put_alias(one)
        return {"removed": True, "canonical": shown(type_, before)}
    _put(tx, StoredAlias(*name, alias, "", "", type_, 0, tx.now), stored)
    return {"removed": True}


def _names(gone: Iterable[StoredAlias]) -> list[str]:
    """Names that notes may have been known to mention by aliases that are gone."""
    return [one.canonical_name for one in gone if one.canonical]


@read("alias.list")
async def list_aliases(shelf: Shelf, params: AliasListParams, call: Call) -> dict[str, Any]:
    """Return a page of aliases by type and name, those that notes said which were committed before among them."""
    await read_for_entities(shelf, params.min_seq)
    wanted = None if params.type is None else family(checked_type(params.type, "type", call))
    stored = shelf.view.entities.aliases(limit=ALIASES_KNOWN)
    found: dict[tuple[str, str], dict[str, Any]] = {
        name: {"type": name.type, "alias": step.alias, "canonical": shown(name.type, step.name), "source": "built_in"}
        for name, step in built_in().items()
    }
    given: set[tuple[str, str]] = set()
    known = Aliases(stored)
    notes = shelf.view.notes.by_rows([alias.note for alias in stored if alias.note])
    for alias in stored:
        name = EntityName(alias.family, alias.alias)
        if name in given or known.chain(alias.type, alias.name)[:1] != [alias.canonical][: bool(alias.canonical)]:
            continue
        given.add(name)
        found.pop(name, None)
        if alias.canonical:
            source: dict[str, Any] = {"source": "note" if alias.note else "caller"}
            if alias.note in notes:
                source["note_id"] = notes[alias.note].id
            names = {"alias": shown(alias.type, alias.name), "canonical": shown(alias.type, alias.canonical_name)}
            found[name] = {"type": alias.type, **names, **source}
    return _page(found, wanted, params)


def _page(found: dict[tuple[str, str], dict[str, Any]], wanted: str | None, params: AliasListParams) -> dict[str, Any]:
    after = tuple((cursor.decode_text(params.cursor) or "").split("\n", 1))
    names = sorted(name for name in found if wanted in (None, name[0]) and tuple(name) > after)
    result: dict[str, Any] = {"aliases": [found[name] for name in names[: params.limit]]}
    if len(names) > params.limit:
        result["next_cursor"] = cursor.encode("\n".join(names[params.limit - 1]))
    return result
