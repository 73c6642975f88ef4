"""topic.list: nuggets and entities by the beginning of their names."""

from fakes import Api


async def test_nuggets_come_before_entities_that_notes_mention(either: Api) -> None:
    for content, nugget in (("Fancy Bear used Mimikatz.", "Minutes"), ("Anna met Miriam in Milan.", "travel")):
        await either.call("remember", content=content, nugget=nugget)
    await either.call("recall_tool", tool_name="mimikatz")  # waits for the entities
    found = (await either.call("topic.list", beginning=" MI"))["topics"]
    assert found[0] == {"name": "minutes", "kind": "nugget"}
    assert {"name": "mimikatz", "kind": "entity", "type": "tool"} in found
    assert all(one["name"].startswith("mi") for one in found)
    assert (await either.call("topic.list", beginning="minutes"))["topics"] == found[:1]
    assert len((await either.call("topic.list", limit=2))["topics"]) == 2


async def test_entities_of_notes_that_recall_would_not_return_are_none(either: Api) -> None:
    made = await either.call("remember", content="Fancy Bear used Mimikatz.", scope="session", session_id="s")
    await either.call("recall_tool", tool_name="mimikatz")
    assert (await either.call("topic.list", beginning="mimi"))["topics"] == []
    await either.call("note.edit", id=made["note"]["id"], metadata={"scope": "user"})
    await either.call("recall_tool", tool_name="mimikatz")
    assert [one["name"] for one in (await either.call("topic.list", beginning="mimi"))["topics"]] == ["mimikatz"]
