"""Whatever the operations are: a batch is all or nothing, best effort is what is left without the bad ones, and both
can be taken back.
"""

import asyncio
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import Api, memory
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.notes.relations import SYMMETRIC
from shelfd.memory.ports.view import View

Op = dict[str, Any]
PEOPLE = ("Ada", "Bea", "Cyd")
REFS = ("r1", "r2", "r3", "nobody")
RELATIONS = ("knows", "Allied_With", "mentions")
DIRECTIONS = ("bidirectional", "outgoing", "incoming")

#: A person that is there from the beginning, by name; the tests put in the id.
known = st.sampled_from(PEOPLE).map(lambda name: f"id of {name}")
target = st.one_of(
    known.map(lambda note: {"target_node_id": note}), st.sampled_from(REFS).map(lambda ref: {"targetRef": ref})
)
link = st.builds(
    lambda end, relation, direction: {**end, "relation": relation, "direction": direction},
    target,
    st.sampled_from(RELATIONS),
    st.sampled_from(DIRECTIONS),
)
create = st.fixed_dictionaries(
    {"op": st.just("create"), "type": st.sampled_from(["character_sheet", "event", "thread", "dragon"])},
    optional={
        "title": st.sampled_from((*PEOPLE, "Dot", "ada")),
        "fields": st.dictionaries(st.sampled_from(["goal", "status", "note", "aliases"]), st.sampled_from(PEOPLE)),
        "ref": st.sampled_from(REFS[:3]),
        "links": st.lists(link, max_size=2),
        "on_match": st.sampled_from(["merge", "new", "error"]),
    },
)
edit = st.fixed_dictionaries(
    {"op": st.just("edit"), "nodeId": known},
    optional={
        "title": st.sampled_from(PEOPLE),
        "setFields": st.dictionaries(st.sampled_from(["goal", "mood"]), st.sampled_from([1, "x", None])),
        "clearFields": st.lists(st.sampled_from(["goal", "mood"]), max_size=1),
        "if_rev": st.sampled_from([1, 2]),
    },
)
delete = st.fixed_dictionaries({"op": st.just("delete"), "nodeId": known})
source = st.one_of(
    known.map(lambda note: {"sourceNodeId": note}), st.sampled_from(REFS).map(lambda ref: {"source_ref": ref})
)
upsert = st.builds(
    lambda one, links: {"op": "link_upsert", **one, "links": links}, source, st.lists(link, min_size=1, max_size=3)
)
unlink = st.builds(lambda one, other: {"op": "link_delete", **one, **other}, source, link)
operations = st.lists(st.one_of(create, edit, delete, upsert, unlink), max_size=7)


async def furnish(api: Api) -> dict[str, str]:
    """Make the people there are, of whom two know each other; return their ids by the names the tests have."""
    await api.call("session.open", session_id="s", nugget="story")
    ops: list[Op] = [{"op": "create", "type": "character_sheet", "title": name, "ref": name} for name in PEOPLE]
    ops.append({"op": "link_upsert", "sourceRef": "Ada", "links": [{"targetRef": "Bea", "relation": "knows"}]})
    ids = (await api.call("session.apply_extraction_batch", session_id="s", ops=ops))["ids"]
    return {f"id of {name}": ids[name] for name in PEOPLE}


def placed(value: Any, ids: dict[str, str]) -> Any:
    match value:
        case str():
            return ids.get(value, value)
        case list():
            return [placed(member, ids) for member in value]
        case dict():
            return {name: placed(member, ids) for name, member in value.items()}
        case _:
            return value


def picture(view: View) -> tuple[Counter[Any], Counter[Any]]:
    """Visible notes, and links, without ids."""
    notes = {note.id: note for note in view.notes.scan(before_row=None, limit=100)}
    said = {
        note_id: (note.type, note.title, note.content, str(sorted(note.extra.fields.items())), note.hidden)
        for note_id, note in notes.items()
    }
    links = [link for _, link in view.links.page(note_id=None, relation=None, after=0, limit=1000)]
    assert all(link.source in notes and link.target in notes for link in links)
    assert not any(
        one.relation == other.relation and one.relation in SYMMETRIC and one[:2] == other[1::-1]
        for one in links
        for other in links
    )
    visible = [what for what in said.values() if not what[-1]]
    return Counter(visible), Counter((said[one.source], said[one.target], one.relation) for one in links)


async def carried_out(ops: list[Op], *, atomic: bool) -> tuple[Api, dict[str, Any], Any, Any]:
    """What a batch answers and leaves, and what was there before."""
    async with memory() as api:
        ids = await furnish(api)
        view = api.shelf().view
        before = logical_hash(view), view.log.last_seq, picture(view)
        done = await api.call(
            "session.apply_extraction_batch", session_id="s", ops=placed(ops, ids), atomic=atomic, turn=1
        )
        after = logical_hash(view), view.log.last_seq, picture(view)
        if after[1] > before[1]:
            await api.call("undo", tx=before[1] + 1)
            assert picture(view) == before[2]
        return api, done, before, after


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(operations)
def test_a_batch_is_all_or_nothing_and_best_effort_is_it_without_the_bad_ones(ops: list[Op]) -> None:
    async def run() -> None:
        _, best, _, left = await carried_out(ops, atomic=False)
        _, strict, before, after = await carried_out(ops, atomic=True)
        rejected = {one["index"] for one in best["rejected"]}
        assert len(best["applied"]) + len(rejected) == len(ops)
        assert bool(strict["rejected"]) == bool(rejected) == strict["rolled_back"]
        if rejected:
            assert strict["applied"] == []
            assert after == before
        else:
            assert len(strict["applied"]) == len(ops)
        good = [op for index, op in enumerate(ops) if index not in rejected]
        _, again, _, same = await carried_out(good, atomic=True)
        assert again["rejected"] == []
        assert same[2] == left[2]

    asyncio.run(run())
