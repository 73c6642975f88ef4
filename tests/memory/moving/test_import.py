"""Moving in: what another memory kept comes to the shelf as it was, once, and what was done here stays."""

from typing import Any

import pytest

from fakes import ALICE, BOB, ROOT, Api
from nuggets_files import HOME, Json, fact, fact_file, graph, graph_note, link, parts
from shelfd.memory.log.logical import logical_hash

DEPLOY, SHIPPING, OLD = "fact-work-0000aaaa", "note-work-0000bbbb", "note-work-0000cccc"


async def take_in(api: Api, *files: Json, **params: Any) -> Json:
    return await api.call("shelf.import", parts=parts(*files), principal=ROOT, **params)


def sums(result: Json) -> dict[str, int]:
    counted = {name: sum(part[name] for part in result["parts"]) for name in ("created", "updated", "unchanged")}
    lists = {name: sum(len(part[name]) for part in result["parts"]) for name in ("kept", "rejected")}
    return {name: number for name, number in (counted | lists).items() if number}


def losses(result: Json) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in result["parts"]:
        for loss in part["not_kept"]:
            found.setdefault(loss["field"], []).append(loss["why"])
    return found


def errors(result: Json) -> list[tuple[str, int, str]]:
    return [(p["part"], r["index"], r["error"]["message"]) for p in result["parts"] for r in p["rejected"]]


async def facts(api: Api, nugget: str) -> dict[str, tuple[str, int]]:
    found = (await api.call("nugget.facts", name=nugget))["facts"]
    return {one["key"]: (one["value"], one["hits"]) for one in found}


# ------------------------------------------------------------------ what is kept


async def test_a_home_comes_as_it_was(either: Api) -> None:
    api = either
    result = await take_in(api, *HOME.values())
    assert [(p["part"], p["created"], p["updated"], p["unchanged"]) for p in result["parts"]] == [
        ("nuggets", 2, 0, 0),
        ("notes", 3, 0, 0),
        ("facts", 1, 0, 1),
        ("facts", 1, 0, 0),
        ("links", 2, 0, 0),
    ]
    assert await facts(api, "work") == {"project:deploy": ("pnpm deploy", 4), "colour": ("green", 1)}
    assert await facts(api, "home") == {"kettle": ("blue", 0)}
    assert (await api.call("recall", query="project:deploy"))["answer"]["value"] == "pnpm deploy"


async def test_a_note_keeps_its_id_dates_metadata_tags_and_links(api: Api) -> None:
    await take_in(api, *HOME.values())
    listed = (await api.call("note.list", nugget="work", kind="fact"))["notes"]
    assert [note["last_accessed_at"] for note in listed if note["id"] == DEPLOY] == ["2025-03-02T08:00:00Z"]
    deploy, shipping = await api.note(DEPLOY), await api.note(SHIPPING)
    assert deploy["kind"] == "fact"
    assert deploy["tags"] == ["work", "scope:project", "type:project", "release"]
    assert (deploy["scope"], deploy["type"], deploy["subject"]) == ("project", "project", "shared:project")
    assert (deploy["source"], deploy["confidence"], deploy["stability"]) == ("explicit_user", 0.9, "durable")
    assert (deploy["created_at"], deploy["updated_at"]) == ("2025-03-01T08:00:00Z", "2025-03-02T08:00:00Z")
    assert (deploy["hits"], deploy["last_hit_session"]) == (4, "s-9")
    assert deploy["links"] == [
        {"to": SHIPPING, "relation": "related", "reason": "both ship", "created_at": "2025-03-03T08:00:00Z"}
    ]
    assert (shipping["title"], shipping["content"]) == ("Shipping", "ship on\n\nfriday")
    assert shipping["last_rewritten_at"] == "2025-03-02T07:00:00Z"
    assert (shipping["source"], shipping["confidence"]) == ("agent_reflection", 0.75)
    old = await api.note(OLD)
    assert (old["hidden"], old["archived_at"]) == (True, "2025-04-01T08:00:00Z")
    assert "an old thought" not in await api.found("thought")


async def test_hits_count_on(api: Api) -> None:
    await take_in(api, *HOME.values())
    await api.call("recall", query="project:deploy", session_id="s-9")
    assert (await api.note(DEPLOY))["hits"] == 4  # that session counts already
    await api.call("recall", query="project:deploy", session_id="s-10")
    assert (await api.note(DEPLOY))["hits"] == 5
    await take_in(api, *HOME.values())
    assert (await api.note(DEPLOY))["hits"] == 5
    more = fact_file("work", [fact("project:deploy", "pnpm deploy", hits=9, session="s-11")])
    assert sums(await take_in(api, more)) == {"unchanged": 2}
    assert (await api.note(DEPLOY))["hits"] == 9

    await api.shelf().write_usage()
    assert (await api.note(DEPLOY))["hits"] == 9  # as it is stored
    more = fact_file("work", [fact("project:deploy", "pnpm deploy", hits=12, session="s-12")])
    assert sums(await take_in(api, more)) == {"unchanged": 2}
    assert (await api.note(DEPLOY))["hits"] == 12


async def test_hits_are_durable_once_answered_and_count_for_promotion(either: Api) -> None:
    api = either
    await take_in(api, *HOME.values())
    view = api.shelf().view
    (place,) = view.notes.with_hits(after=(0, 0), limit=9)
    assert [note.id for note in view.notes.by_rows([place[1]]).values()] == [DEPLOY]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
async def test_every_version_of_a_fact_file_is_read(api: Api, version: int) -> None:
    file = fact_file("home", [fact("kettle", "blue", hits=2, version=version)], version=version)
    assert sums(await take_in(api, file)) == {"created": 2}
    assert await facts(api, "home") == {"kettle": ("blue", 0 if version == 1 else 2)}
    status = await api.call("nugget.status", name="home")
    assert (status["dimension"], status["banks"]) == ((1024, 4) if version == 1 else (16384, 4))


async def test_a_graph_before_version_3_has_its_metadata_inferred_anew(api: Api) -> None:
    wrong = {"scope": "shared", "subject": "shared:project", "type": "fact"}
    notes = [
        graph_note("fact-memory-00000001", "Ada", nugget="memory", title="user_name", **wrong),
        graph_note("fact-memory-00000002", "brief", nugget="memory", title="self:style", **wrong),
    ]
    result = await take_in(api, graph(notes, version=2))
    name, style = await api.note("fact-memory-00000001"), await api.note("fact-memory-00000002")
    assert (name["title"], name["scope"], name["subject"]) == ("user_name", "user", "user:primary")
    assert (style["scope"], style["subject"]) == ("shared", "shared:project")  # its title says what it is: kept
    assert "before version 3" in losses(result)["metadata"][0]


@pytest.mark.parametrize("version", [None, 1, 3])
async def test_what_is_missing_is_filled_in(api: Api, version: int | None) -> None:
    bare = {"id": "note-work-00000001", "donnaName": "work", "content": "the repo is on the server"}
    assert sums(await take_in(api, graph([bare], version=version))) == {"created": 1}
    note = await api.note("note-work-00000001")
    assert (note["nugget"], note["kind"], note["title"], note["scope"]) == ("work", "note", "", "shared")
    assert note["created_at"] == note["updated_at"] == "2026-01-01T00:00:00Z"
    assert (note["hits"], note["hidden"], note["links"]) == (0, False, [])


async def test_a_file_without_a_name_is_named_by_its_own(api: Api) -> None:
    part = {"part": "facts", "source": {"name": "garden.donna.json", "header": {"version": 4}}}
    await api.call("shelf.import", parts=[{**part, "items": [fact("tree", "plum")]}], principal=ROOT)
    assert await facts(api, "garden") == {"tree": ("plum", 0)}


async def test_the_value_that_recall_answered_there_answers_here(api: Api) -> None:
    # The two files are written one after the other; where they differ, the fact file had the last word.
    both = (graph([graph_note(DEPLOY, "make deploy", title="deploy")]), fact_file("work", [fact("deploy", "just")]))
    await take_in(api, *both)
    assert (await api.note(DEPLOY))["content"] == "just"
    before = api.shelf().view.log.last_seq
    assert sums(await take_in(api, *both)) == {"unchanged": 3}
    assert api.shelf().view.log.last_seq == before


# ------------------------------------------------------------------ again


async def test_again_changes_nothing(either: Api) -> None:
    api = either
    first = await take_in(api, *HOME.values())
    before = logical_hash(api.shelf().view), api.shelf().view.log.last_seq
    again = await take_in(api, *HOME.values())
    assert sums(again) == {"unchanged": 10}
    assert (logical_hash(api.shelf().view), api.shelf().view.log.last_seq) == before
    assert again["last_seq"] == first["last_seq"]


async def test_a_file_that_changed_brings_what_changed(api: Api) -> None:
    shipping = graph_note(SHIPPING, "ship on friday", title="Shipping")
    other = graph_note(OLD, "an old thought")
    await take_in(api, graph([shipping, other]))
    changed = {**shipping, "content": "ship on monday", "updatedAt": "2025-06-01T08:00:00.000Z"}
    assert sums(await take_in(api, graph([changed, other]))) == {"updated": 1, "unchanged": 1}
    note = await api.note(SHIPPING)
    assert (note["content"], note["title"], note["rev"]) == ("ship on monday", "Shipping", 2)
    log = (await api.call("shelf.log", limit=1000))["log"]
    assert {row["method"] for row in log} == {"shelf.import"}
    hidden = {**changed, "hidden": True, "archivedAt": "2025-07-01T08:00:00.000Z"}
    assert sums(await take_in(api, graph([hidden, other]))) == {"updated": 1, "unchanged": 1}
    assert (await api.note(SHIPPING))["archived_at"] == "2025-07-01T08:00:00Z"


async def test_what_was_edited_here_stays_and_is_told_where_the_file_changed_too(api: Api) -> None:
    shipping = graph_note(SHIPPING, "ship on friday", title="Shipping")
    await take_in(api, graph([shipping]))
    await api.call("note.edit", id=SHIPPING, content="ship on tuesday")
    assert sums(await take_in(api, graph([shipping]))) == {"unchanged": 1}
    changed = {**shipping, "content": "ship on monday", "title": "Releases", "tags": ["weekly"]}
    result = await take_in(api, graph([changed]))
    assert result["parts"][0]["kept"] == [{"index": 0, "id": SHIPPING, "fields": ["content"]}]
    note = await api.note(SHIPPING)
    assert (note["content"], note["title"], note["tags"][3:]) == ("ship on tuesday", "Releases", ["weekly"])
    await take_in(api, graph([changed]))
    assert (await api.note(SHIPPING))["content"] == "ship on tuesday"


async def test_what_was_forgotten_here_stays_forgotten(api: Api) -> None:
    await take_in(api, *HOME.values())
    await api.call("forget", nugget="work", key="project:deploy")
    await api.call("forget", nugget="home", key="kettle")
    assert sums(await take_in(api, *HOME.values())) == {"unchanged": 10}
    assert await facts(api, "home") == {}
    assert await facts(api, "work") == {"colour": ("green", 1)}


async def test_what_was_renamed_or_moved_here_is_known_again(api: Api) -> None:
    await take_in(api, *HOME.values())
    kettle = (await api.call("nugget.facts", name="home"))["facts"][0]["note_id"]
    await api.call("note.edit", id=DEPLOY, title="deployment")
    await api.call("note.edit", id=kettle, title="colour of the kettle")
    await api.call("note.move", id=SHIPPING, nugget="home")
    before = logical_hash(api.shelf().view)
    assert sums(await take_in(api, *HOME.values())) == {"unchanged": 10}
    assert logical_hash(api.shelf().view) == before


async def test_a_tended_note_is_no_edited_one(api: Api) -> None:
    file = graph([graph_note(SHIPPING, "the harbour crane is out of order", title="Shipping")])
    await take_in(api, file)
    assert (await api.call("reflect"))["tagged"] == 1
    file["notes"][0]["content"] = "the harbour crane works again"
    assert sums(await take_in(api, file)) == {"updated": 1}
    assert (await api.note(SHIPPING))["content"] == "the harbour crane works again"


async def test_a_graph_that_comes_later_knows_the_facts(api: Api) -> None:
    await take_in(api, HOME["work.nugget.json"])
    result = await take_in(api, *HOME.values())
    assert sums(result) == {"created": 6, "updated": 1, "unchanged": 3}
    assert losses(result)["id"] == ["the fact with its key is here under another one; links follow"]
    found = (await api.call("recall", query="project:deploy", k=1))["results"][0]["note"]
    assert found["id"] != DEPLOY
    assert (found["scope"], found["tags"][3:]) == ("project", ["release"])
    assert [one["to"] for one in found["links"]] == [SHIPPING]
    before = api.shelf().view.log.last_seq
    assert sums(await take_in(api, *HOME.values())) == {"unchanged": 10}
    assert api.shelf().view.log.last_seq == before


async def test_undo_takes_an_import_back_and_the_next_one_brings_it_again(either: Api) -> None:
    api = either
    result = await take_in(api, *HOME.values())
    await api.call("undo", tx=1, principal=ROOT)
    assert await api.found("deploy kettle shipping green") == []
    again = await take_in(api, *HOME.values())
    assert sums(again) == {"created": 2, "updated": 4, "unchanged": 4}
    assert await facts(api, "home") == {"kettle": ("blue", 0)}
    assert (await api.note(DEPLOY))["links"][0]["to"] == SHIPPING
    assert result["last_seq"] < again["last_seq"]


async def test_undo_takes_back_what_an_import_changed(api: Api) -> None:
    file = graph([graph_note(SHIPPING, "ship on friday")])
    await take_in(api, file)
    before = logical_hash(api.shelf().view)
    file["notes"][0]["content"] = "ship on monday"
    seq = (await take_in(api, file))["last_seq"]
    await api.call("undo", tx=seq, principal=ROOT)
    assert logical_hash(api.shelf().view) == before


# ------------------------------------------------------------------ ids, keys and names


@pytest.mark.parametrize("id_", [None, 7, "", " " * 300, "a\nb", "x" * 300])
async def test_an_id_that_is_none_is_replaced_by_the_same_one_each_time(api: Api, id_: Any) -> None:
    odd = {**graph_note("note-work-00000001", "odd"), "id": id_, "links": [link(SHIPPING, "why not")]}
    file = graph([odd, graph_note(SHIPPING, "ship", links=[link(id_, "back")] if isinstance(id_, str) and id_ else [])])
    result = await take_in(api, file)
    assert "gets a new one" in losses(result)["id"][0]
    listed = (await api.call("note.list", nugget="work"))["notes"]
    new = next(note for note in listed if note["content"] == "odd")
    assert new["id"].startswith("note-work-")
    if isinstance(id_, str) and id_:
        assert result["known"] == {id_: new["id"]}
        assert [one["to"] for one in new["links"]] == [SHIPPING]
        assert [one["to"] for one in (await api.note(SHIPPING))["links"]] == [new["id"]]
    before = logical_hash(api.shelf().view)
    await take_in(api, file)
    assert logical_hash(api.shelf().view) == before


async def test_an_id_that_is_another_note_s_here_is_replaced_and_links_follow(api: Api) -> None:
    await take_in(api, graph([graph_note("note-work-00000001", "mine", nugget="play")]))
    theirs = graph_note("note-work-00000001", "theirs", links=[link(SHIPPING)])
    ship = graph_note(SHIPPING, "ship", links=[link("note-work-00000001")])
    first, *_, links = parts(graph([theirs, ship]))
    result = await api.call("shelf.import", parts=[first], principal=ROOT)
    assert losses(result)["id"] == ["is another note's here; links follow"]
    await api.call("shelf.import", parts=[links], known=result["known"], principal=ROOT)
    new = result["known"]["note-work-00000001"]
    assert (await api.note(new))["content"] == "theirs"
    assert [one["to"] for one in (await api.note(SHIPPING))["links"]] == [new]
    assert (await api.note("note-work-00000001"))["content"] == "mine"
    before = logical_hash(api.shelf().view)
    await take_in(api, graph([theirs, ship]))
    assert logical_hash(api.shelf().view) == before


async def test_a_fact_that_was_here_first_stays(api: Api) -> None:
    mine = await api.remember("red", key="kettle", nugget="home")
    same = await api.remember("plum", key="tree", nugget="home")
    result = await take_in(api, fact_file("home", [fact("Kettle", "blue", hits=3), fact("tree", "plum", hits=2)]))
    assert result["parts"][1]["kept"] == [{"index": 0, "id": mine["id"], "fields": ["content"]}]
    assert await facts(api, "home") == {"kettle": ("red", 3), "tree": ("plum", 2)}
    assert (await api.note(same["id"]))["rev"] == 1


async def test_what_stands_twice_counts_once(api: Api) -> None:
    file = fact_file("home", [fact("kettle", "blue"), fact("KETTLE", "red")])
    notes = graph([graph_note(SHIPPING, "one"), graph_note(SHIPPING, "two")])
    result = await take_in(api, file, notes)
    assert errors(result) == [
        ("notes", 1, "stands twice: an earlier item is the same note, and that one counts"),
        ("facts", 1, "stands twice: an earlier item is the same note, and that one counts"),
    ]
    assert await facts(api, "home") == {"kettle": ("blue", 0)}
    assert (await api.note(SHIPPING))["content"] == "one"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("Work", "work"), ("a/b", "a-b"), ("../../etc", "etc"), ("my notes", "my-notes"), ("x" * 80, "x" * 64),
     ("Größe", "grösse"), ("日本", "日本"), ("a:b+#", "a-b")],
)  # fmt: skip
async def test_a_name_becomes_one_that_can_be(api: Api, theirs: str, ours: str) -> None:
    file, notes = fact_file(theirs, [fact("k", "v")]), graph([graph_note(SHIPPING, "ship", nugget=theirs)])
    result = await take_in(api, file, notes)
    assert await facts(api, ours) == {"k": ("v", 0)}
    note = await api.note(SHIPPING)
    assert (note["nugget"], note["tags"][0], len(note["tags"])) == (ours, ours, 3)
    assert ("nugget" in losses(result)) == (theirs != ours)


async def test_names_that_become_one_do_not_overwrite_each_other(api: Api) -> None:
    files = fact_file("Work", [fact("k", "one")]), fact_file("work", [fact("k", "two")])
    await take_in(api, files[0])
    result = await take_in(api, files[1])
    assert result["parts"][1]["kept"][0]["fields"] == ["content"]
    assert await facts(api, "work") == {"k": ("one", 0)}
    before = api.shelf().view.log.last_seq
    assert [part for part, _, _ in errors(await take_in(api, *files))] == ["facts"]
    assert api.shelf().view.log.last_seq == before


# ------------------------------------------------------------------ what cannot be kept


async def test_bad_items_are_told_and_the_others_come(api: Api) -> None:
    big = "x" * (256 * 1024 + 1)
    items: list[Any] = [
        fact("a", "1"), fact("b", big), fact("", "x"), fact("c", "  "), {"key": "d"}, {"value": "e"}, 7, None,
        {"key": "f", "value": 3}, fact("user:", "x"), fact("x" * 513, "x"), fact("two\nlines", "x"), fact("z", "26"),
    ]  # fmt: skip
    result = await take_in(api, fact_file("home", items))
    assert [(index, message.split(":")[0]) for _, index, message in errors(result)] == [
        (1, "content"), (2, "key"), (3, "content"), (4, "content is required, or fields to render it from"), (5, "key"),
        (6, "is not an object"), (7, "is not an object"), (8, "content"),
        (9, "key is a scope prefix without a name after it"), (10, "key"), (11, "key"),
    ]  # fmt: skip
    assert result["parts"][1]["rejected"][0]["error"]["code"] == -32005
    assert result["parts"][1]["rejected"][0]["error"]["data"]["limit"] == 256 * 1024
    assert await facts(api, "home") == {"a": ("1", 0), "z": ("26", 0)}


async def test_a_nugget_that_cannot_be_named_is_refused(api: Api) -> None:
    result = await take_in(api, fact_file("///", [fact("a", "1")]), graph([graph_note(SHIPPING, "x", nugget="---")]))
    assert [(part, index) for part, index, _ in errors(result)] == [
        ("nuggets", 0), ("notes", 0), ("facts", 0), ("links", 0),
    ]  # fmt: skip


async def test_whatever_of_a_note_does_not_fit_is_said(api: Api) -> None:
    odd = graph_note(
        SHIPPING, "ship", title="x" * 600, tags=["work", "y" * 65, 5, *(f"t{i}" for i in range(40))], scope="team",
        type="z" * 200, confidence=3, hits=-1, lastHitSession="s" * 200, createdAt="yesterday", hidden="no",
        updatedAt="2099-01-01T00:00:00Z", archivedAt="2025-01-01T00:00:00Z", mood="blue", sourceKey="k",
    )  # fmt: skip
    result = await take_in(api, graph([odd]))
    told = losses(result)
    assert sorted(told) == sorted(
        "title tags scope type confidence hits lastHitSession createdAt hidden updatedAt archivedAt mood sourceKey"
        " vector".split()
    )
    assert told["tags"] == [
        "a tag is longer than 64 characters", "a tag input should be a valid string", "8 more than a note can have",
    ]  # fmt: skip
    note = await api.note(SHIPPING)
    assert (len(note["title"]), note["scope"], note["confidence"], note["hits"]) == (512, "user", 1.0, 0)
    assert (len(note["tags"]), note["hidden"]) == (35, False)
    assert note["created_at"] == note["updated_at"] == "2026-01-01T00:00:00Z"


async def test_options_of_a_nugget(api: Api) -> None:
    await api.call("nugget.create", name="mine", dimension=512)
    files = [
        fact_file("large", [], D=10**6), fact_file("many", [], D=65_535, banks=1024), fact_file("mine", []),
        fact_file("small", [], D=256, banks=2, ensembles=3, max_facts=7), fact_file("odd", [], D="x", max_facts=-1),
        fact_file("new", [], version=4) | {"version": 9},
    ]  # fmt: skip
    result = await take_in(api, *files)
    why = {(loss["field"], index): loss["why"] for loss in result["parts"][0]["not_kept"] for index in loss["indexes"]}
    assert "defaults are taken" in why["options", 0]
    assert "defaults are taken" in why["options", 1]
    assert why["options", 2] == "the nugget is here with other options and keeps them"
    assert "defaults are taken" in why["options", 4]
    assert ("max_facts", 4) in why
    assert why["version", 5] == "is not known here; read as version 4"
    assert {index for field, index in why if field == "config"} == {0, 1, 2, 3, 4, 5}
    status = await api.call("nugget.status", name="small")
    assert [status[name] for name in ("dimension", "banks", "ensembles", "max_facts")] == [256, 2, 3, 7]
    assert (await api.call("nugget.status", name="large"))["dimension"] == 1024
    assert (await api.call("nugget.status", name="mine"))["dimension"] == 512


async def test_a_nugget_keeps_no_more_facts_than_it_may(api: Api) -> None:
    file = fact_file("home", [fact(f"k{i}", "v") for i in range(5)], max_facts=3)
    await take_in(api, file)
    assert list(await facts(api, "home")) == ["k2", "k3", "k4"]
    before = api.shelf().view.log.last_seq
    assert sums(await take_in(api, file)) == {"unchanged": 6}
    assert api.shelf().view.log.last_seq == before


async def test_links_that_lead_nowhere_or_back_are_told(api: Api) -> None:
    bad = [link("note-work-gone"), link(SHIPPING), {"reason": "x"}, "x", link(OLD, "a"), link(OLD, "b"), link(OLD, "A")]
    file = graph([graph_note(SHIPPING, "ship", links=bad), graph_note(OLD, "old", links="none")])
    result = await take_in(api, file)
    assert losses(result)["links"] == [
        "a link leads nowhere", "the note that a link leads to is not here", "a note cannot link to itself",
    ]  # fmt: skip
    assert [(one["to"], one["reason"]) for one in (await api.note(SHIPPING))["links"]] == [(OLD, "a; b")]
    assert result["parts"][1] | {"not_kept": []} == {
        "part": "links", "created": 1, "updated": 0, "unchanged": 0, "kept": [], "rejected": [], "not_kept": [],
    }  # fmt: skip


async def test_a_link_gains_reasons_and_one_written_here_stays(api: Api) -> None:
    file = graph([graph_note(SHIPPING, "ship", links=[link(OLD, "a")]), graph_note(OLD, "old")])
    await take_in(api, file)
    file["notes"][0]["links"].append(link(OLD, "b"))
    assert sums(await take_in(api, file))["updated"] == 1
    assert (await api.note(SHIPPING))["links"][0]["reason"] == "a; b"
    await api.call("link.upsert", source=SHIPPING, target=OLD, reason="mine", direction="outgoing")
    result = await take_in(api, file)
    assert result["parts"][1]["kept"] == [{"index": 0, "id": SHIPPING, "fields": ["links"]}]
    assert (await api.note(SHIPPING))["links"][0]["reason"] == "mine"


async def test_a_note_has_no_more_links_than_it_may(api: Api) -> None:
    api.limits = api.limits.model_copy(update={"links_count": 2})
    others = [graph_note(f"note-work-{i:08x}", str(i)) for i in range(4)]
    file = graph([graph_note(SHIPPING, "ship", links=[link(note["id"]) for note in others]), *others])
    result = await take_in(api, file)
    assert losses(result)["links"] == ["a note has at most 2 links"]
    assert len((await api.note(SHIPPING))["links"]) == 2


# ------------------------------------------------------------------ the method


async def test_a_dry_run_says_the_same_and_does_nothing(either: Api) -> None:
    api = either
    await api.remember("red", key="kettle", nugget="home")
    before = logical_hash(api.shelf().view), api.shelf().view.log.last_seq
    dry = await take_in(api, *HOME.values(), dry_run=True)
    assert (logical_hash(api.shelf().view), api.shelf().view.log.last_seq) == before
    assert (await api.call("get_stats"))["total_notes"] == 1
    wet = await take_in(api, *HOME.values())
    assert dry["dry_run"] is True
    assert dry["parts"] == wet["parts"]


async def test_it_needs_an_administrator_of_the_shelf(api: Api) -> None:
    some = parts(HOME["home.nugget.json"])
    assert (await api.refused("shelf.import", parts=some, principal=ALICE)).code == -32004
    await api.call("shelf.create", shelf="mine", principal=BOB)
    result = await api.call("shelf.import", parts=some, shelf="mine", principal=BOB)
    assert sums(result) == {"created": 2}
    assert (await api.refused("shelf.import", parts=some, shelf="mine", principal=ALICE)).code == -32004


async def test_the_same_request_is_carried_out_once(api: Api) -> None:
    first = await take_in(api, *HOME.values(), idempotency_key="moving-day")
    again = await take_in(api, *HOME.values(), idempotency_key="moving-day")
    assert again == {**first, "replayed": True}
    assert (await api.refused("shelf.import", parts=parts(HOME["home.nugget.json"]), principal=ROOT,
                              idempotency_key="moving-day")).kind == "IdempotencyMismatch"  # fmt: skip


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "parts"), ({"parts": []}, "parts"), ({"parts": [{"part": "x", "items": []}]}, "parts.0.part"),
        ({"parts": [{"part": "facts"}]}, "parts.0.items"),
        ({"parts": parts(HOME["graph.json"]), "format": "x"}, "format"),
    ],
)  # fmt: skip
async def test_params_are_checked(api: Api, params: Json, field: str) -> None:
    refused = await api.refused("shelf.import", params, principal=ROOT)
    assert (refused.code, refused.field) == (-32602, field)


async def test_history_tells_what_an_import_changed_without_its_marks(api: Api) -> None:
    file = graph([graph_note(SHIPPING, "ship on friday")])
    await take_in(api, file)
    file["notes"][0]["content"] = "ship on monday"
    await take_in(api, file)
    versions = (await api.call("note.history", id=SHIPPING))["versions"]
    assert versions[1]["change"] == {"content": "ship on monday"}
    assert "imported" not in versions[0]["change"]
