"""ZettelForge's cases that speak of a note's life, of counts and of snapshots, with the same outcome or a fixed one."""

from datetime import timedelta

from fakes import Api


async def test_a_note_has_the_defaults_of_the_page(api: Api) -> None:
    note = await api.remember("The crane is locked at night.")
    shown = {name: note[name] for name in ("importance", "tier", "confidence", "domain", "access_count")}
    assert shown == {"importance": 5, "tier": "B", "confidence": 1.0, "domain": "general", "access_count": 0}


async def test_an_access_is_counted(api: Api) -> None:
    note = await api.remember("The crane is locked at night.")
    await api.found("crane")
    await api.found("crane")
    assert (await api.note(note["id"]))["access_count"] == 2


async def test_a_note_says_where_it_is_from(api: Api) -> None:
    given = {"source_type": "ingestion", "source_ref": "report:7", "domain": "cti"}
    note = await api.remember("The crane is locked at night.", **given)
    shown = await api.note(note["id"], full=True)
    assert {name: shown[name] for name in given} == given


async def test_a_doubtful_note_is_to_be_reviewed(api: Api) -> None:
    """There nothing ever asks whether a note is to be reviewed."""
    doubtful = await api.remember("The crane may be locked.", confidence=0.49)
    await api.remember("The gate is green.", confidence=0.5)
    assert (await api.note(doubtful["id"]))["needs_review"] is True
    listed = await api.call("note.list", needs_review=True)
    assert [note["id"] for note in listed["notes"]] == [doubtful["id"]]
    assert (await api.call("note.list", needs_review=False))["total"] == 1


async def test_statistics_have_the_counts_of_the_page(api: Api) -> None:
    await api.remember("The crane is locked at night.")
    await api.remember("Emotet is back.", key="news")
    await api.found("crane")
    await api.call("recall_tool", tool_name="Emotet")
    stats = await api.call("get_stats")
    counted = {name: stats[name] for name in ("notes_created", "retrievals", "entity_index_hits", "total_notes")}
    assert counted == {"notes_created": 2, "retrievals": 2, "entity_index_hits": 1, "total_notes": 2}
    assert stats["conflicts"] == 0
    assert stats["jobs"] == {"queued": 0, "running": 0, "waiting": 0}


async def test_nothing_expires_that_nobody_gave_a_life(api: Api) -> None:
    """There a note vanishes from recall 30 days after it was last written, whatever its TTL says."""
    note = await api.remember("The crane is locked at night.")
    longer = await api.remember("The crane is oiled monthly.", ttl_days=400)
    api.clock.advance(timedelta(days=399))
    assert "expires_at" not in note
    assert len(await api.found("crane")) == 2
    api.clock.advance(timedelta(days=1))
    assert await api.found("crane") == [note["content"]]
    assert longer["ttl_days"] == 400


async def test_a_tier_changes_only_if_somebody_says_so(api: Api) -> None:
    """There every note is tier A from the beginning, and consolidation gives that again to what has it."""
    note = await api.remember("The crane is locked at night.", tier="C")
    for _ in range(3):
        await api.call("reflect")
        await api.found("crane")
    assert (await api.note(note["id"]))["tier"] == "C"
    edited = await api.call("note.edit", id=note["id"], metadata={"tier": "A", "importance": 9})
    assert (edited["note"]["tier"], edited["note"]["importance"]) == ("A", 9)


async def test_the_end_of_a_long_note_is_found(api: Api) -> None:
    """There only the first 1,000 characters have a vector."""
    note = await api.remember("filler " * 2000 + "and at last the heliograph")
    assert await api.found("heliograph") == [note["content"]]


async def test_notes_of_one_moment_do_not_overwrite_each_other(api: Api) -> None:
    """There an id has 65,536 values in a second, and a second note of the same id replaces the first."""
    ids = (await api.call("remember_many", notes=[{"content": f"line {n}"} for n in range(5000)]))["ids"]
    assert len(set(ids)) == 5000
    assert (await api.call("get_stats"))["total_notes"] == 5000
