"""What was weak in Luker and is no longer, as far as the other tests of this folder do not say it already.

Each of these would fail there; ``luker.md`` beside it says which test stands for which weakness.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from fakes import Api, Refused
from shelfd.memory.notes.inference import default_confidence
from shelfd.memory.sessions.nugget_graph import NuggetGraph
from shelfd.protocol import METHODS

SESSION = "chat"
#: What a thread has to have.
THREAD = {"status": "active", "note": "open"}
#: The sixteen methods of a session, with the defaults of their page.
SIXTEEN: dict[str, dict[str, object]] = {
    "list_visible_candidates": {"exclude_recent_messages": 0},
    "get_edge_summary": {"limit": 8},
    "get_node_brief": {"include_edge_summary": True, "edge_summary_limit": 8},
    "expand_from_seeds": {"hops": 1, "include_children": True, "project_to": "visible", "exclude_internal": False},
    "get_schema": {},
    "keyword_search": {"k": 20},
    "vector_search": {"k": 20},
    "find_by_name": {},
    "compaction_candidates": {"depth": 0},
    "create_node": {},
    "edit_node": {},
    "delete_node": {},
    "upsert_links": {},
    "delete_links": {"direction": "bidirectional"},
    "compact_nodes": {},
    "apply_extraction_batch": {},
}


@pytest.fixture
async def talk(api: Api) -> Api:
    """A session on a nugget that is empty."""
    await api.call("session.open", session_id=SESSION, nugget="story")
    return api


async def said(api: Api, name: str, **params: Any) -> dict[str, Any]:
    return await api.call(f"session.{name}", session_id=SESSION, **params)


async def event(api: Api, title: str, **params: Any) -> str:
    return str((await said(api, "create_node", type="event", title=title, **params))["id"])


async def shown(api: Api, note_id: str) -> dict[str, Any]:
    return dict((await said(api, "get_node", id=note_id))["node"])


def ids(nodes: Sequence[dict[str, Any]]) -> list[str]:
    return [node["id"] for node in nodes]


@pytest.mark.parametrize("name", SIXTEEN)
def test_each_of_the_sixteen_methods_has_its_defaults(name: str) -> None:
    params = METHODS[f"session.{name}"].params.model_fields
    assert {param: params[param].get_default(call_default_factory=True) for param in SIXTEEN[name]} == SIXTEEN[name]
    assert "session_id" in params


@pytest.mark.parametrize(
    ("turns", "span"),
    [((1, 3), [1, 3]), ((3, 1), [1, 3]), ((2, 2), [2, 2]), ((None, 3), [3, 3]), ((None, None), None)],
    ids=["union", "out of order", "single", "one without", "none"],
)
async def test_a_rollup_spans_what_its_children_do(
    talk: Api, turns: tuple[int | None, int | None], span: list[int] | None
) -> None:
    """What a child came from was on no list of what is kept, and gone at the first save (weakness 4)."""
    for number in (1, 2, 3):
        await said(talk, "create_node", type="thread", title=f"t{number}", fields=THREAD, turn=number)
    made = []
    for turn in turns:
        if turn is None:
            note = await talk.remember("told by nobody", type="event", nugget="story")
            made.append(note["id"])
        else:
            made.append(await event(talk, f"in {turn}", turn=turn))
    rollup = (await said(talk, "compact_nodes", type="event", child_ids=made, summary="both"))["rollup_node_id"]
    assert (await shown(talk, rollup))["source_span"] == span
    await talk.call("session.retract_turns", session_id=SESSION, from_turn=9)
    assert (await shown(talk, rollup))["source_span"] == span


async def test_weakness_3_a_rollup_that_is_deleted_leaves_what_it_stood_for(talk: Api) -> None:
    """Deleting a rollup deleted, for good, all it represented."""
    leaves = [await event(talk, f"day {number}") for number in range(2)]
    rollup = (await said(talk, "compact_nodes", type="event", child_ids=leaves, summary="two"))["rollup_node_id"]
    assert (await said(talk, "delete_node", id=rollup))["freed"] == leaves
    assert sorted(ids((await said(talk, "list_visible_candidates"))["nodes"])) == sorted(leaves)
    assert (await shown(talk, rollup))["archived"]
    await talk.call("note.restore", id=rollup)
    assert not (await shown(talk, rollup))["archived"]


async def test_weakness_7_links_lead_where_nothing_was_before(talk: Api) -> None:
    """A link could lead only to what was in the result already, and people's relations were not followed at all."""
    names = ["Ada", "Bea", "Cyd", "Dot"]
    people = {name: (await said(talk, "create_node", type="character_sheet", title=name))["id"] for name in names}
    for one, other in (("Ada", "Bea"), ("Bea", "Cyd")):
        link = {"target_node_id": people[other], "relation": "partner_of"}
        await said(talk, "upsert_links", source={"id": people[one]}, links=[link])
    reached = (await said(talk, "expand_from_seeds", seed_ids=[people["Ada"]], hops=2))["nodes"]
    found = {node["title"]: (node["hop"], len(node["path"])) for node in reached}
    assert found == {"Ada": (0, 1), "Bea": (1, 2), "Cyd": (2, 3)}


async def test_weakness_9_notes_of_one_turn_stand_in_the_order_they_were_made(talk: Api) -> None:
    """Ids were compared as text: the tenth came before the second."""
    made = [await event(talk, f"event {number}", turn=1) for number in range(12)]
    assert ids((await said(talk, "list_nodes"))["nodes"]) == made
    assert ids((await said(talk, "list_visible_candidates"))["nodes"]) == made
    assert ids((await said(talk, "find_by_name", query="event 1"))["matches"]) == [made[1], made[10], made[11]]


async def test_weakness_9_types_are_compared_without_case_wherever_one_is_named(talk: Api) -> None:
    """One of the paths that write compared them with their case."""
    made = [(await said(talk, "create_node", type="Event", title=f"e{number}"))["id"] for number in range(2)]
    assert {(await shown(talk, note_id))["type"] for note_id in made} == {"event"}
    assert await said(talk, "edit_node", id=made[0], type="EVENT", set_fields={"where": "here"})
    assert len((await said(talk, "list_nodes", types=["eVent"]))["nodes"]) == 2
    assert (await said(talk, "compact_nodes", type="EVENT", child_ids=made, summary="both"))["depth"] == 1
    first, again = [
        await said(talk, "create_node", type=type_, title="Ada") for type_ in ("character_sheet", "Character_Sheet")
    ]
    assert again["merged"] == [first["id"]]


async def test_weakness_10_the_latest_notes_are_kept_however_few_there_are(talk: Api) -> None:
    """With no more notes than are to be kept, none was."""
    compression = {"mode": "hierarchical", "threshold": 2, "fan_in": 2, "keep_recent_leaves": 3}
    await talk.call("schema.set_type", type="event", nugget="story", compression=compression)
    for number in range(4):
        await event(talk, f"event {number}", turn=number + 1)
        assert (await said(talk, "compaction_candidates", type="event"))["groups"] == []
    await event(talk, "event 4", turn=5)
    (group,) = (await said(talk, "compaction_candidates", type="event"))["groups"]
    assert group["depth"] == 1  # that of the rollup to be: it was the children's
    assert (await said(talk, "compact"))["rollups"] == 1


async def test_weakness_14_and_18_words_find_rollups_in_any_script_and_types_are_filled(talk: Api) -> None:
    """Rollups were never found, other scripts than English lost, a type's keywords matched every note of it, and a
    filter by type came after the best were chosen.
    """
    leaves = [await event(talk, title) for title in ("Das Café schließt", "黑龙出现在港口")]
    rollup = (await said(talk, "compact_nodes", type="event", child_ids=leaves, summary="Der Drache im Müller-Café"))[
        "rollup_node_id"
    ]
    await talk.call("schema.set_type", type="thread", nugget="story", keywords=["memory", "story"])
    threads = [
        (await said(talk, "create_node", type="thread", title=f"cafe {number}", fields=THREAD))["id"]
        for number in range(3)
    ]
    await talk.warmed()

    async def found(query: str, **params: Any) -> list[str]:
        return ids((await said(talk, "keyword_search", query=query, **params))["results"])

    assert rollup in await found("cafe muller")
    assert (await found("黑龙", within="all"))[:1] == [leaves[1]]
    assert await found("story") == []
    assert sorted(await found("cafe", types=["thread"], k=3)) == sorted(threads)
    assert (await found("cafe 2", types=["thread"]))[0] == threads[2]  # ranked, and not only counted


@pytest.mark.parametrize("method", ["get_edge_summary", "get_node_brief", "get_neighbors"])
async def test_weakness_15_a_note_is_looked_at_without_all_the_others(
    talk: Api, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Each summary went through all links, and each brief as well."""
    looked = Counter[str]()
    for name in ("links", "projected", "node", "id"):
        monkeypatch.setattr(NuggetGraph, name, _counted(getattr(NuggetGraph, name), looked, name))
    centre = await event(talk, "centre")
    costs = []
    for size in (20, 200):
        ops: list[dict[str, Any]] = [
            {"op": "create", "type": "event", "title": f"{size} {number}", "ref": f"r{number}"}
            for number in range(size)
        ]
        ops += [
            {"op": "link_upsert", "source_ref": f"r{number}", "links": [{"target_ref": f"r{number + 1}"}]}
            for number in range(size - 1)
        ]
        if size == 20:
            ops.append({"op": "link_upsert", "source_ref": "r0", "links": [{"target_node_id": centre}]})
        await said(talk, "apply_extraction_batch", ops=ops)
        await said(talk, method, id=centre)  # by then the graph follows
        looked.clear()
        await said(talk, method, id=centre)
        costs.append(sum(looked.values()))
    assert costs[0] == costs[1]


def _counted(real: Any, looked: Counter[str], name: str) -> Any:
    def counting(self: Any, *args: Any, **named: Any) -> Any:
        looked[name] += 1
        return real(self, *args, **named)

    return counting


async def test_weakness_17_a_restart_reads_notes_and_not_the_history(
    talk: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that was ever written was replayed at each start."""
    kept = await event(talk, "kept")
    for number in range(50):
        await said(talk, "edit_node", id=kept, set_fields={"what": f"{number}"})
    before = await shown(talk, kept)
    await talk.reopen()
    log = type(talk.shelf().view.log)
    real, read = log.page, []

    def page(self: Any, **params: Any) -> Any:
        read.append(params)
        return real(self, **params)

    monkeypatch.setattr(log, "page", page)
    await talk.reopen()
    assert await shown(talk, kept) == before
    assert read == []


async def test_weakness_20_a_note_says_who_wrote_what_when_and_how_sure_it_is(talk: Api) -> None:
    """There was no provenance, no confidence, no validity and no wall time."""
    made = await event(talk, "the fire", turn=3)
    note = await talk.note(made, full=True)
    assert (note["session_id"], note["turn"], note["seq_to"]) == (SESSION, 3, 1)
    assert note["confidence"] == default_confidence(note["source"])
    assert note["created_at"] == "2026-01-01T00:00:00Z"
    link = {
        "target_node_id": (await talk.remember("a place", nugget="story"))["id"],
        "valid_to": "2026-02-01T00:00:00Z",
    }
    await said(talk, "upsert_links", source={"id": made}, links=[link])
    assert (await talk.note(made))["links"][0]["valid_to"] == "2026-02-01T00:00:00Z"
    (version,) = (await talk.call("note.history", id=made))["versions"]
    assert version["principal"] == talk.principal
    row = next(row for row in (await talk.call("shelf.log", limit=100))["log"] if made in row["ids"])
    assert (row["session_id"], row["turn"], row["method"]) == (SESSION, 3, "session.create_node")


async def test_numbers_are_given_to_turns_that_wrote_something(talk: Api) -> None:
    """Messages without text did not count either: what is not seen has no number."""
    for turn in (2, 5, 9):
        await event(talk, f"in {turn}", turn=turn)
    nodes = (await said(talk, "list_nodes"))["nodes"]
    assert [node["seq_to"] for node in nodes] == [1, 2, 3]


async def test_variants_keep_their_numbers(talk: Api) -> None:
    """Deleting a swipe numbered those after it anew; here a number is given once, and a variant only put away."""
    for variant in (0, 1, 2):
        await said(talk, "select_variant", turn=1, variant=variant)
        await event(talk, f"variant {variant}", turn=1)
    await said(talk, "select_variant", turn=1, variant=1)
    assert [node["title"] for node in (await said(talk, "list_visible_candidates"))["nodes"]] == ["variant 1"]
    with pytest.raises(Refused) as refused:
        await said(talk, "select_variant", turn=1, variant=4)
    assert refused.value.field == "variant"


async def test_a_frozen_session_cannot_be_written_to_by_any_method(talk: Api) -> None:
    """A state that was destroyed took every call and did nothing; here each is refused."""
    note = await event(talk, "was")
    seq = (await talk.call("session.open", session_id=SESSION))["seq"]
    await talk.call("session.open", session_id=SESSION, at_seq=seq)
    writes: dict[str, dict[str, Any]] = {
        "create_node": {"type": "event", "title": "x"},
        "edit_node": {"id": note, "title": "x"},
        "delete_node": {"id": note},
        "upsert_links": {"source": {"id": note}, "links": [{"target_node_id": note}]},
        "delete_links": {"source": {"id": note}, "target": {"id": note}, "relation": "related"},
        "compact_nodes": {"type": "event", "child_ids": [note], "summary": "x"},
        "apply_extraction_batch": {"ops": []},
        "compact": {},
        "retract_turns": {"from_turn": 1},
        "select_variant": {"turn": 1, "variant": 1},
        "extract": {"turns": [{"turn": 1, "text": "x"}]},
        "record_injection": {"turn": 1},
    }
    before = talk.shelf().view.log.last_seq
    for name, params in writes.items():
        refused = await talk.refused(f"session.{name}", session_id=SESSION, **params)
        assert refused.kind == "SessionFrozen", name
    assert talk.shelf().view.log.last_seq == before
