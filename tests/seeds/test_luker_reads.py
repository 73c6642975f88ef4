"""What Luker's test suite says of reads, by name of its cases, on the graph that it uses; fixed where it is said so."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, Final

import pytest

from contract.samples import change, make_link, make_note
from fakes import Api
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.digest import digest
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.sessions import Injection
from shelfd.memory.sessions.stored_links import StoredLinks
from shelfd.memory.shelf.nuggets import ensure_nugget

SESSION: Final = "chat"
#: In the order of time.
BY_TIME: Final = ["leaf_a", "epi", "leaf_b", "rollup", "castle", "leaf_c", "alice", "root"]
#: In the order of a prompt.
CANDIDATES: Final = ["root", "alice", "leaf_c", "castle", "rollup"]
Ask = Callable[..., Awaitable[dict[str, Any]]]


def node(note_id: str, type_: str, seq_to: int, **more: Any) -> Note:
    extra = {
        name: more.pop(name) for name in ("level", "is_rollup", "rollup_depth", "fields", "aliases") if name in more
    }
    note = make_note(note_id, title=note_id, content=f"what {note_id} is about", type=type_, seq_to=seq_to)
    return note._replace(**more, extra=note.extra._replace(**extra))


NODES: Final = (
    node("leaf_a", "event", 2, parent_id="rollup", content="Mist fell over the harbour"),
    node("leaf_b", "event", 4, parent_id="rollup", content="The old bridge broke"),
    node("rollup", "event", 4, is_rollup=True, rollup_depth=1, content="Mist fell, and the bridge broke"),
    node("leaf_c", "event", 6, content="A lantern was lit on the pier"),
    node("epi", "event", 3, level="episodic"),
    node("castle", "location_state", 5, fields={"danger": "wolves", "state": "in ruins"}),
    node("root", "character_sheet", 8, is_rollup=True, rollup_depth=1, content="Everyone there is"),
    node("alice", "character_sheet", 7, parent_id="root", fields={"traits": "brave", "aliases": "艾琳, Al"}),
    node("gone", "event", 1, archived_at=1),
    node("trace", "recall_trace", 9),
)
LINKS: Final = (
    make_link("leaf_a", "alice", "mentions"),
    make_link("leaf_b", "alice", "mentions"),
    make_link("alice", "castle", "related"),
    make_link("leaf_c", "castle", "occurred_at"),
    make_link("gone", "castle", "related"),
)


async def build(api: Api, nodes: Sequence[Note] = NODES, links: Sequence[Any] = LINKS) -> None:
    def make(tx: Transaction) -> None:
        ensure_nugget(tx, "memory")
        for one in nodes:
            tx.create_note(one)
        for link in links:
            tx.put_link(link, "memory")

    await api.call("session.open", session_id=SESSION)
    await api.shelf().store.commit(change(make))


async def publish(api: Api, *, pinned: Sequence[str] = (), frontier: Sequence[str] | None = None) -> None:
    visible = None if frontier is None else tuple(frontier)
    shown = Injection(SESSION, 1, 0, 0, pinned=tuple(pinned), frontier=visible)
    await api.shelf().store.commit(change(lambda tx: tx.rows.injections.add(shown)))


@pytest.fixture
async def ask(api: Api) -> Ask:
    await build(api)

    async def asked(method: str, **params: Any) -> dict[str, Any]:
        return await api.call(f"session.{method}", session_id=SESSION, **params)

    return asked


def ids(views: Sequence[dict[str, Any]]) -> list[str]:
    return [view["id"] for view in views]


def ends(edges: Sequence[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(edge["from"], edge["to"], edge["type"]) for edge in edges]


# ----------------------------------------------------------------- list_nodes


async def test_nodes_are_listed_by_time(ask: Ask) -> None:
    assert ids((await ask("list_nodes"))["nodes"]) == BY_TIME


async def test_nodes_of_types(ask: Ask) -> None:
    found = await ask("list_nodes", types=["EVENT"])
    assert ids(found["nodes"]) == ["leaf_a", "epi", "leaf_b", "rollup", "leaf_c"]


async def test_all_nodes_are_also_the_hidden_and_the_diagnostic_one(ask: Ask) -> None:
    assert ids((await ask("list_nodes", active_only=False))["nodes"]) == ["gone", *BY_TIME, "trace"]


async def test_nodes_of_a_level(ask: Ask) -> None:
    assert ids((await ask("list_nodes", levels=["episodic"]))["nodes"]) == ["epi"]


async def test_nodes_of_a_range_of_turns(ask: Ask) -> None:
    found = await ask("list_nodes", seq_range={"from": 5, "to": 7})
    assert ids(found["nodes"]) == ["castle", "leaf_c", "alice"]


async def test_lists_have_pages(ask: Ask) -> None:
    """Fixed: limits count, and there are pages."""
    found: list[str] = []
    following: str | None = None
    while True:
        page = await ask("list_nodes", limit=3, **({} if following is None else {"cursor": following}))
        assert len(page["nodes"]) <= 3
        found += ids(page["nodes"])
        following = page.get("next_cursor")
        if following is None:
            break
    assert found == BY_TIME


# ------------------------------------------------------ get_node, list_edges


async def test_a_node_has_all_fields_of_its_shape(ask: Ask) -> None:
    assert (await ask("get_node", id="rollup"))["node"] == {
        "id": "rollup",
        "type": "event",
        "level": "semantic",
        "title": "rollup",
        "fields": {"summary": "Mist fell, and the bridge broke"},
        "seq_to": 4,
        "parent_id": "",
        "children_ids": ["leaf_a", "leaf_b"],
        "archived": False,
        "semantic_rollup": True,
        "semantic_depth": 1,
        "source_span": None,
    }


@pytest.mark.parametrize("note_id", ["nobody", "", "  "])
async def test_a_missing_node_is_null(ask: Ask, note_id: str) -> None:
    assert await ask("get_node", id=note_id) == {"node": None}


async def test_a_hidden_node_is_shown(ask: Ask) -> None:
    assert (await ask("get_node", id=" gone "))["node"]["archived"] is True


async def test_all_edges_are_listed_without_weight(ask: Ask) -> None:
    """Fixed: a rollup and its children are linked once, not twice."""
    edges = (await ask("list_edges"))["edges"]
    assert sorted(ends(edges)) == sorted(
        [
            ("leaf_a", "alice", "mentions"),
            ("leaf_b", "alice", "mentions"),
            ("alice", "castle", "related"),
            ("leaf_c", "castle", "occurred_at"),
            ("gone", "castle", "related"),
            ("rollup", "leaf_a", "semantic_contains"),
            ("rollup", "leaf_b", "semantic_contains"),
            ("root", "alice", "semantic_contains"),
        ]
    )
    assert all(edge.keys() == {"from", "to", "type"} for edge in edges)


async def test_without_internal_edges_the_others_are_left(ask: Ask) -> None:
    edges = (await ask("list_edges", exclude_internal=True))["edges"]
    assert {edge["type"] for edge in edges} == {"mentions", "related", "occurred_at"}


async def test_edges_of_a_type_from_a_node(ask: Ask) -> None:
    found = await ask("list_edges", types=["Mentions"], **{"from": "leaf_a"})
    assert ends(found["edges"]) == [("leaf_a", "alice", "mentions")]
    assert ends((await ask("list_edges", **{"from": "rollup", "to": "leaf_b"}))["edges"]) == [
        ("rollup", "leaf_b", "semantic_contains")
    ]
    assert (await ask("list_edges", to="nobody"))["edges"] == []


async def test_edges_have_pages(ask: Ask) -> None:
    whole, found = (await ask("list_edges"))["edges"], []
    page = await ask("list_edges", limit=3)
    while True:
        found += page["edges"]
        if "next_cursor" not in page:
            break
        page = await ask("list_edges", limit=3, cursor=page["next_cursor"])
    assert found == whole


# ------------------------------------------------------------------- topology


async def around(ask: Ask, note_id: str, **params: Any) -> set[tuple[str, str, str]]:
    found = (await ask("get_neighbors", id=note_id, **params))["neighbors"]
    return {(one["direction"], one["edge_type"], one["node"]["id"]) for one in found}


async def test_neighbours_out_in_and_both(ask: Ask) -> None:
    out = {("out", "related", "castle")}
    into = {("in", "mentions", "leaf_a"), ("in", "mentions", "leaf_b"), ("in", "semantic_contains", "root")}
    assert await around(ask, "alice", direction="out") == out
    assert await around(ask, "alice", direction="in") == into
    assert await around(ask, "alice") == out | into
    assert await around(ask, "castle") == {("in", "related", "alice"), ("in", "occurred_at", "leaf_c")}  # not gone
    assert await around(ask, "nobody") == set()


async def test_neighbours_are_projected(ask: Ask) -> None:
    """Fixed: a node is no neighbour of itself."""
    assert ("in", "mentions", "rollup") in await around(ask, "alice", project_to="visible")
    assert await around(ask, "alice", project_to=["castle", "rollup"]) == {
        ("out", "related", "castle"),
        ("in", "mentions", "rollup"),
    }
    assert await around(ask, "leaf_a", project_to=["rollup", "leaf_a"]) == {("in", "semantic_contains", "rollup")}
    assert await around(ask, "leaf_a", project_to=["root"]) == {("out", "mentions", "root")}
    assert await around(ask, "alice", project_to=["alice"]) == set()


async def test_ancestors(ask: Ask) -> None:
    async def above(note_id: str, **params: Any) -> str | None:
        found = (await ask("get_ancestor", id=note_id, **params))["node"]
        return None if found is None else found["id"]

    assert await above("alice") == "root"
    assert await above("leaf_a", where={"semantic_rollup": True, "min_depth": 1, "type": "event"}) == "rollup"
    assert await above("leaf_a", where={"type": "thread"}) is None
    assert await above("root") is None
    assert await above("nobody") is None


async def test_descendants(ask: Ask) -> None:
    assert ids((await ask("get_descendants", id="rollup"))["nodes"]) == ["leaf_a", "leaf_b"]
    assert (await ask("get_descendants", id="rollup", max_depth=0))["nodes"] == []
    assert (await ask("get_descendants", id="leaf_a"))["nodes"] == []
    assert (await ask("get_descendants", id="nobody"))["nodes"] == []


async def test_the_nearest_visible_ancestor(ask: Ask) -> None:
    async def nearest(note_id: str, visible: Sequence[str]) -> str | None:
        found = (await ask("get_nearest_visible_ancestor", id=note_id, visible_node_ids=visible))["node"]
        return None if found is None else found["id"]

    assert await nearest("leaf_a", ["leaf_a", "rollup"]) == "leaf_a"
    assert await nearest("leaf_a", ["rollup"]) == "rollup"
    assert await nearest("alice", ["root"]) == "root"
    assert await nearest("leaf_a", ["castle"]) is None
    assert await nearest("gone", ["gone"]) is None
    assert (await ask("get_nearest_visible_ancestor", id="leaf_b"))["node"]["id"] == "rollup"


async def test_edges_are_projected(ask: Ask) -> None:
    found = (await ask("project_edges", visible_node_ids=CANDIDATES))["edges"]
    weights = {(edge["from"], edge["to"], edge["type"]): edge["weight"] for edge in found}
    assert weights == {
        ("rollup", "alice", "mentions"): 2,
        ("alice", "castle", "related"): 1,
        ("leaf_c", "castle", "occurred_at"): 1,
    }
    assert (await ask("project_edges"))["edges"] == found


async def test_a_link_of_what_is_not_represented_is_left_out(ask: Ask) -> None:
    found = (await ask("project_edges", visible_node_ids=["rollup", "alice"]))["edges"]
    assert ends(found) == [("rollup", "alice", "mentions")]
    assert (await ask("project_edges", visible_node_ids=[]))["edges"] == []


async def test_internal_edges_are_projected_if_asked_for(ask: Ask) -> None:
    found = (await ask("project_edges", visible_node_ids=CANDIDATES, exclude_internal=False))["edges"]
    assert ("root", "alice", "semantic_contains") in ends(found)
    wide = (await ask("project_edges", visible_node_ids=[*CANDIDATES, "leaf_a"], exclude_internal=False))["edges"]
    assert ("rollup", "leaf_a", "semantic_contains") in ends(wide)
    assert ("leaf_a", "alice", "mentions") in ends(wide)


# ----------------------------------------------------------------- candidates


async def test_candidates_are_the_frontier_by_recency(ask: Ask) -> None:
    assert ids((await ask("list_visible_candidates"))["nodes"]) == CANDIDATES


async def test_candidates_of_a_window_and_of_types(ask: Ask) -> None:
    assert ids((await ask("list_visible_candidates", seq_window={"from": 5}))["nodes"]) == CANDIDATES[:4]
    assert ids((await ask("list_visible_candidates", seq_window={"to": 5}))["nodes"]) == CANDIDATES[3:]
    assert ids((await ask("list_visible_candidates", types=["Event"]))["nodes"]) == ["leaf_c", "rollup"]


async def test_candidates_have_limits_and_pages(ask: Ask) -> None:
    first = await ask("list_visible_candidates", limit=2)
    second = await ask("list_visible_candidates", limit=3, cursor=first["next_cursor"])
    assert [*ids(first["nodes"]), *ids(second["nodes"])] == CANDIDATES


async def test_candidates_leave_out_the_turns_that_are_still_in_the_prompt(api: Api) -> None:
    """Fixed: turns of this session are counted, by their own numbers."""
    await api.call("session.open", session_id=SESSION)
    for turn in range(1, 5):
        await api.call("remember", content=f"said in turn {turn}", session_id=SESSION, turn=turn)
    await api.call("remember", content="said elsewhere", session_id="another", turn=1)
    found = await api.call("session.list_visible_candidates", session_id=SESSION, exclude_recent_messages=2)
    said = [view["fields"]["summary"] for view in found["nodes"]]
    assert said == ["said elsewhere", "said in turn 2", "said in turn 1"]


async def test_exposure(ask: Ask) -> None:
    """As documented: what is not semantic is shown in full."""
    shown = {note_id: (await ask("get_node_exposure", id=note_id))["exposure"] for note_id in [*BY_TIME, "gone", "x"]}
    assert shown == {
        **dict.fromkeys(["leaf_a", "leaf_b", "leaf_c", "rollup"], "high_only"),
        **dict.fromkeys(["epi", "castle", "alice", "root"], "full"),
        **dict.fromkeys(["gone", "x"], None),
    }


# --------------------------------------------------------------- edge summary


async def test_degree_with_everything_visible(ask: Ask) -> None:
    """Fixed: the link to her rollup counts once."""
    summary = await ask("get_edge_summary", id="alice", visible_node_ids=BY_TIME)
    assert summary["degree"] == 4
    assert summary["relations"] == [
        {"relation": "mentions", "direction": "in", "count": 2},
        {"relation": "related", "direction": "out", "count": 1},
        {"relation": "semantic_contains", "direction": "in", "count": 1},
    ]
    assert ids(summary["sample_neighbors"]) == ["root", "leaf_a", "leaf_b", "castle"]


async def test_what_the_prompt_saw_is_visible_by_default(api: Api, ask: Ask) -> None:
    await publish(api, frontier=["alice", "castle"])
    summary = await ask("get_edge_summary", id="alice")
    assert ids(summary["sample_neighbors"]) == ["castle"]
    assert (await ask("get_edge_summary", id="root"))["degree"] == 0


async def test_the_frontier_is_visible_if_nothing_was_recorded(ask: Ask) -> None:
    neighbors = ids((await ask("get_edge_summary", id="alice"))["sample_neighbors"])
    assert "rollup" in neighbors
    assert "leaf_a" not in neighbors


async def test_no_ids_are_nothing(ask: Ask) -> None:
    nothing = {"degree": 0, "relations": [], "sample_neighbors": []}
    assert await ask("get_edge_summary", id="alice", visible_node_ids=[]) == nothing
    assert await ask("get_edge_summary", id="nobody") == nothing
    assert await ask("get_edge_summary", id="leaf_a") == nothing


async def test_the_seq_of_a_neighbour_is_that_of_its_newest_link(api: Api) -> None:
    nodes = [node(name, "character_sheet", seq) for name, seq in (("hub", 1), ("one", 20), ("two", 2), ("three", 3))]
    links = [
        make_link("hub", "one", "related"),
        make_link("hub", "two", "related", seq_to=99),
        make_link("hub", "three", "related", seq_to=5),
        make_link("three", "hub", "mentions", seq_to=12),
    ]
    await build(api, nodes, links)
    summary = await api.call("session.get_edge_summary", session_id=SESSION, id="hub")
    assert [(one["id"], one["to_seq"]) for one in summary["sample_neighbors"]] == [
        ("two", 99),
        ("one", 20),
        ("three", 12),
    ]
    short = await api.call("session.get_edge_summary", session_id=SESSION, id="hub", limit=1)
    assert (ids(short["sample_neighbors"]), short["degree"]) == (["two"], 4)


# ---------------------------------------------------------------------- brief


async def test_a_brief_has_all_fields(ask: Ask) -> None:
    brief = (await ask("get_node_brief", id="alice"))["brief"]
    summary = brief.pop("edge_summary")
    assert summary == await ask("get_edge_summary", id="alice")
    assert brief == {
        "id": "alice",
        "level": "semantic",
        "type": "character_sheet",
        "table_name": "character_table",
        "title": "alice",
        "summary": "what alice is about",
        "key_values": {"title": "alice", "aliases": "艾琳, Al"},
        "row_values": {"traits": "brave"},
        "to_seq": 7,
        "child_count": 0,
        "exposure": "full",
        "always_inject": False,
        "source_span": None,
    }


async def test_a_rollup_is_shown_in_short(api: Api) -> None:
    """Fixed: exposure is no mere label, and hidden children do not count."""
    nodes = [
        *(one for one in NODES if one.id != "rollup"),
        node("rollup", "event", 4, is_rollup=True, rollup_depth=1, fields={"place": "pier", "summary": "Mist"}),
        node("leaf_d", "event", 4, parent_id="rollup", archived_at=1),
    ]
    await build(api, nodes)
    brief = (await api.call("session.get_node_brief", session_id=SESSION, id="rollup"))["brief"]
    assert (brief["exposure"], brief["row_values"], brief["child_count"]) == ("high_only", {"summary": "Mist"}, 2)


async def test_always_inject_is_what_the_prompt_held(api: Api, ask: Ask) -> None:
    await publish(api, pinned=["rollup"])
    briefs = (await ask("get_node_briefs", ids=["rollup", "leaf_c"]))["briefs"]
    assert [brief["always_inject"] for brief in briefs] == [True, False]


async def test_no_brief_of_what_is_missing_or_hidden(ask: Ask) -> None:
    assert await ask("get_node_brief", id="gone") == {"brief": None}
    assert await ask("get_node_brief", id="nobody") == {"brief": None}
    assert (await ask("get_node_briefs", ids=["gone", "castle"]))["briefs"][0] is None


async def test_a_brief_without_its_links(ask: Ask) -> None:
    assert (await ask("get_node_brief", id="alice", include_edge_summary=False))["brief"]["edge_summary"] is None


# --------------------------------------------------------------------- expand


async def reached(ask: Ask, *seeds: str, **params: Any) -> dict[str, tuple[int, list[str]]]:
    found = (await ask("expand_from_seeds", seed_ids=list(seeds), **params))["nodes"]
    return {one["id"]: (one["hop"], one["path"]) for one in found}


async def test_seeds_and_children_are_reached(ask: Ask) -> None:
    found = await reached(ask, "root", hops=2)
    assert found["root"] == (0, ["root"])
    assert found["alice"] == (1, ["root", "alice"])
    assert found["castle"] == (2, ["root", "alice", "castle"])


async def test_links_lead_on(ask: Ask) -> None:
    """Fixed: links reach what nothing else does, and what is not reached is not in the result."""
    assert await reached(ask, "castle") == {
        "castle": (0, ["castle"]),
        "alice": (1, ["castle", "alice"]),
        "leaf_c": (1, ["castle", "leaf_c"]),
    }


async def test_a_rollup_opens_to_its_children(ask: Ask) -> None:
    assert list(await reached(ask, "rollup")) == ["rollup", "leaf_a", "leaf_b", "alice"]
    assert list(await reached(ask, "rollup", include_children=False)) == ["rollup", "alice"]


async def test_without_internal_links_children_are_not_followed(ask: Ask) -> None:
    assert list(await reached(ask, "root", hops=2, exclude_internal=True)) == ["root"]
    assert list(await reached(ask, "rollup", exclude_internal=True)) == ["rollup", "alice"]


async def test_expansion_within_given_nodes_and_everywhere(ask: Ask) -> None:
    assert list(await reached(ask, "alice", project_to=["castle"])) == ["alice", "castle"]
    assert set(await reached(ask, "leaf_a", project_to="raw")) == {"leaf_a", "alice", "rollup"}
    assert list(await reached(ask, "gone", "nobody")) == ["gone"]
    assert list(await reached(ask, "castle", edge_types=["occurred_at"])) == ["castle", "leaf_c"]
    assert list(await reached(ask, "castle", hops=0)) == ["castle"]


async def test_expansion_has_pages(ask: Ask) -> None:
    first = await ask("expand_from_seeds", seed_ids=["root"], hops=9, limit=2)
    second = await ask("expand_from_seeds", seed_ids=["root"], hops=9, cursor=first["next_cursor"])
    assert [*ids(first["nodes"]), *ids(second["nodes"])] == list(await reached(ask, "root", hops=9))


# --------------------------------------------------------------------- search


async def found_by(ask: Ask, query: str, **params: Any) -> list[tuple[str, float]]:
    results = (await ask("keyword_search", query=query, **params))["results"]
    assert all(one["score_mode"] == "keyword" for one in results)
    return [(one["id"], round(one["score"], 3)) for one in results]


async def test_keywords_find_the_share_of_the_query_they_are(ask: Ask) -> None:
    assert await found_by(ask, "lantern pier unheard") == [("leaf_c", 0.667)]
    assert await found_by(ask, "Mist bridge") == [("rollup", 1.0)]
    assert await found_by(ask, "  ") == []
    assert await found_by(ask, "!!") == []


async def test_keywords_open_leaves_if_asked_to(ask: Ask) -> None:
    """As documented: the frontier is searched."""
    assert await found_by(ask, "harbour") == []
    assert await found_by(ask, "harbour", within="all") == [("leaf_a", 1.0)]


async def test_keywords_of_types_and_at_most_k(ask: Ask) -> None:
    assert await found_by(ask, "everyone bridge", types=["character_sheet"]) == [("root", 0.5)]
    assert len(await found_by(ask, "alice castle", k=1)) == 1


async def test_vectors_need_an_embedder(api: Api, ask: Ask) -> None:
    assert (await ask("vector_search", query=" "))["results"] == []
    refused = await api.refused("session.vector_search", session_id=SESSION, query="betrayal")
    assert (refused.code, refused.reason) == (-32007, "NO_EMBEDDING_PROFILE")


async def test_names(ask: Ask) -> None:
    async def named(query: str, **params: Any) -> list[str]:
        return ids((await ask("find_by_name", query=query, **params))["matches"])

    assert await named("ALI") == ["alice"]
    assert await named("艾琳") == ["alice"]
    assert await named("al") == ["alice"]
    assert await named("a", types=["location_state"]) == ["castle"]
    assert await named("leaf") == ["leaf_c"]
    assert await named("leaf", within="all") == ["leaf_a", "leaf_b", "leaf_c"]
    assert await named("zebra") == []
    assert await named(" ") == []


async def test_exact_names_come_first(api: Api) -> None:
    """Fixed: whoever is called so comes before whoever's name it is a part of."""
    nodes = [node("n1", "character_sheet", 1, title="Anna Maria"), node("n2", "character_sheet", 5, title="Änna")]
    await build(api, nodes, [])
    found = await api.call("session.find_by_name", session_id=SESSION, query="anna", limit=1)
    assert ids(found["matches"]) == ["n2"]
    more = await api.call("session.find_by_name", session_id=SESSION, query="anna", cursor=found["next_cursor"])
    assert ids(more["matches"]) == ["n1"]


# ----------------------------------------------------------- views, weaknesses


def emptied(value: Any) -> None:
    """Take away everything that a view holds."""
    for member in list(value.values()) if isinstance(value, dict) else list(value):
        if isinstance(member, dict | list):
            emptied(member)
    value.clear()


async def test_what_a_caller_does_to_a_view_changes_nothing(api: Api, ask: Ask) -> None:
    await publish(api, frontier=CANDIDATES, pinned=["rollup"])
    for name, params in (
        ("get_node", {"id": "alice"}),
        ("get_node_brief", {"id": "alice"}),
        ("get_edge_summary", {"id": "alice"}),
        ("list_visible_candidates", {}),
        ("list_edges", {}),
    ):
        before = await ask(name, **params)
        call = api.request(f"session.{name}", session_id=SESSION, **params)
        emptied(await api.service.handle(call))
        assert await ask(name, **params) == before


async def test_a_session_does_not_see_the_private_notes_of_another(api: Api) -> None:
    for session_id in (SESSION, "another"):
        await api.call("session.open", session_id=session_id)
        content = f"the password of {session_id} is tulip"
        await api.call("remember", content=content, scope="session", session_id=session_id, turn=1, title=session_id)
    own = [
        (await api.call("session.list_visible_candidates", session_id=SESSION))["nodes"],
        (await api.call("session.list_nodes", session_id=SESSION))["nodes"],
        (await api.call("session.keyword_search", session_id=SESSION, query="tulip"))["results"],
        (await api.call("session.find_by_name", session_id=SESSION, query="a"))["matches"],
    ]
    assert [[view["title"] for view in views] for views in own] == [["chat"]] * 4


async def test_a_session_on_a_nugget_that_does_not_exist_reads_empty(api: Api) -> None:
    await api.call("session.open", session_id=SESSION, nugget="elsewhere")
    assert (await api.call("session.list_nodes", session_id=SESSION))["nodes"] == []
    assert (await api.call("session.keyword_search", session_id=SESSION, query="tea"))["results"] == []
    assert (await api.refused("session.list_nodes", session_id="nobody")).code == -32001


async def test_relations_have_no_case_and_symmetric_ones_no_direction(api: Api) -> None:
    """Fixed: case is folded once, what holds both ways is shown so, and n10 comes after n9."""
    nodes = [node(f"n{number}", "character_sheet", 1) for number in range(1, 12)]
    links = [
        make_link("n1", "n2", "Trusts"),
        make_link("n1", "n3", "hostile_to"),
        *(make_link("n9", f"n{number}", "mentions") for number in (10, 11)),
    ]
    await build(api, nodes, links)

    async def ask(name: str, **params: Any) -> dict[str, Any]:
        return await api.call(f"session.{name}", session_id=SESSION, **params)

    assert await around(ask, "n1", edge_types=["TRUSTS"]) == {("out", "trusts", "n2")}
    for note_id, other in (("n1", "n3"), ("n3", "n1")):
        assert ("symmetric", "hostile_to", other) in await around(ask, note_id, direction="out")
        relations = (await ask("get_edge_summary", id=note_id))["relations"]
        assert {"relation": "hostile_to", "direction": "symmetric", "count": 1} in relations
    assert ids((await ask("list_nodes"))["nodes"]) == [f"n{number}" for number in range(1, 12)]
    assert ids((await ask("get_edge_summary", id="n9"))["sample_neighbors"]) == ["n10", "n11"]


async def test_a_change_elsewhere_reads_no_links_of_a_rollup_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixed: links are projected once, and a change costs those it concerns."""
    leaves = [node(f"leaf{number}", "event", 1, parent_id="top") for number in range(80)]
    nodes = [
        *leaves,
        node("top", "event", 1, is_rollup=True, rollup_depth=1),
        *(node(f"thing{number}", "thread", 1) for number in range(80)),
    ]
    links = [make_link(f"leaf{number}", f"thing{number}", "mentions") for number in range(80)]
    await build(api, nodes, links)
    read: list[int] = []
    of = StoredLinks.of

    def counted(stored: StoredLinks, leaving: Any, reaching: Any) -> Any:
        read.append(len(leaving) + len(reaching))
        return of(stored, leaving, reaching)

    monkeypatch.setattr(StoredLinks, "of", counted)
    for expected in (80, 0):
        read.clear()
        assert (await api.call("session.get_edge_summary", session_id=SESSION, id="top"))["degree"] == 80
        assert sum(read) == expected
    await api.call("link.upsert", source="thing1", target="thing2", relation="mentions")
    read.clear()
    assert (await api.call("session.get_edge_summary", session_id=SESSION, id="top"))["degree"] == 80
    assert sum(read) == 0
    await api.call("link.upsert", source="leaf3", target="thing9", relation="about", direction="outgoing")
    assert (await api.call("session.get_edge_summary", session_id=SESSION, id="top"))["degree"] == 81


async def test_of_equally_many_words_the_rarer_ones_come_first(api: Api) -> None:
    """Fixed: ranked by more than overlap; a type's keywords match nothing; accents and other scripts are words."""
    await api.call("session.open", session_id=SESSION)
    await api.call("schema.set_type", type="thing", keywords=["lantern"])
    for number in range(6):
        await api.call("session.create_node", session_id=SESSION, type="thing", title=f"A rope, number {number}")
    for title in ("The Café of Zoë", "艾琳 of the harbour", "An anchor and a rope"):
        await api.call("session.create_node", session_id=SESSION, type="thing", title=title)

    async def titles(query: str) -> list[str]:
        found = await api.call("session.keyword_search", session_id=SESSION, query=query)
        return [view["title"] for view in found["results"]]

    assert (await titles("anchor sail"))[:1] == ["An anchor and a rope"]
    assert (await titles("anchor harbour rope"))[0] == "An anchor and a rope"
    assert (await titles("harbour rope"))[0] == "艾琳 of the harbour"
    assert await titles("lantern") == []
    assert await titles("CAFE zoe") == ["The Café of Zoë"]
    assert await titles("艾琳") == ["艾琳 of the harbour"]


async def test_a_type_that_becomes_hierarchical_is_represented_by_its_rollups(ask: Ask, api: Api) -> None:
    assert "alice" in ids((await ask("list_visible_candidates"))["nodes"])
    await api.call("schema.set_type", type="character_sheet", compression={"mode": "hierarchical"})
    assert "alice" not in ids((await ask("list_visible_candidates"))["nodes"])


async def test_what_expires_leaves_the_frontier(api: Api) -> None:
    await api.call("session.open", session_id=SESSION)
    await api.call("remember", content="for a day", ttl_days=1)
    assert len((await api.call("session.list_visible_candidates", session_id=SESSION))["nodes"]) == 1
    api.clock.advance(timedelta(days=2))
    assert (await api.call("session.list_visible_candidates", session_id=SESSION))["nodes"] == []
    assert len((await api.call("session.list_nodes", session_id=SESSION))["nodes"]) == 1


async def test_bad_cursors_and_limits_are_refused(api: Api, ask: Ask) -> None:
    for name in ("list_nodes", "list_edges", "project_edges", "list_visible_candidates"):
        refused = await api.refused(f"session.{name}", session_id=SESSION, cursor="nonsense")
        assert (refused.code, refused.field) == (-32602, "cursor")
        assert (await api.refused(f"session.{name}", session_id=SESSION, limit=0)).field == "limit"
    refused = await api.refused("session.get_neighbors", session_id=SESSION, id="alice", project_to="sideways")
    assert refused.code == -32602
    assert (await ask("list_nodes"))["nodes"]


async def test_a_rollup_is_found_by_what_it_cites(api: Api) -> None:
    leaves = [
        node("l1", "event", 1, content="A heron stood on the pier", parent_id="top"),
        node("l2", "event", 2, content="The ferry was late again", parent_id="top"),
    ]
    top = node("top", "event", 2, content=digest(leaves), is_rollup=True, rollup_depth=1)
    await build(api, [*leaves, top], [])
    for within, expected in (("frontier", ["top"]), ("all", ["l1"])):
        found = await api.call("session.keyword_search", session_id=SESSION, query="heron pier", within=within)
        assert [(one["id"], one["score"]) for one in found["results"]] == [(note_id, 1.0) for note_id in expected]


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("get_node", "node"), ("get_node_brief", "brief"), ("get_ancestor", "node"),
        ("get_nearest_visible_ancestor", "node"), ("get_node_exposure", "exposure"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("note_id", ["nobody", "", "  "])
async def test_what_is_not_found_is_null_in_the_one_field_of_its_result(
    ask: Ask, method: str, name: str, note_id: str
) -> None:
    assert await ask(method, id=note_id) == {name: None}
