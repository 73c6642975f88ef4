"""What is inferred of a note when nobody says: by whole tokens, in any script."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Api
from shelfd.memory.notes.inference import Traits, clamp, infer, title_tags


def inferred(title: str, content: str = "x", tags: tuple[str, ...] = (), kind: str = "fact") -> tuple[str, ...]:
    traits = infer(kind, title, content, tags, Traits())
    return traits.scope, traits.subject, traits.type, traits.source, traits.stability


@pytest.mark.parametrize(
    ("title", "content", "scope"),
    [
        ("self:voice", "x", "self"),
        ("USER:name", "x", "user"),
        ("shared:url", "x", "shared"),
        ("project:plan", "x", "project"),
        ("session:mood", "x", "session"),
        ("_task", "x", "shared"),
        ("assistant_name", "Nia", "self"),
        ("assistant tone", "dry", "self"),
        ("user_style", "x", "user"),
        ("server port", "8080", "shared"),
        ("project plan", "x", "project"),
        ("", "the repo moved", "shared"),
        ("", "who am I, the assistant", "self"),
        ("profile", "empathy", "user"),
        ("colour", "green", "user"),
        ("любимый цвет", "зелёный", "user"),
        ("好きな色", "緑", "user"),
        ("हिन्दी", "नमस्ते", "user"),
        ("лицо", "a file", "shared"),
    ],
)
def test_scope(title: str, content: str, scope: str) -> None:
    assert inferred(title, content)[0] == scope


@pytest.mark.parametrize(
    ("scope", "subject"),
    [
        ("self", "assistant:self"),
        ("user", "user:primary"),
        ("session", "session:current"),
        ("shared", "shared:project"),
        ("project", "shared:project"),
    ],
)
def test_subject_follows_scope(scope: str, subject: str) -> None:
    assert inferred(f"{scope}:x")[1] == subject


@pytest.mark.parametrize(
    ("title", "tags", "type_"),
    [
        ("pref:tabs", (), "preference"),
        ("user:pref:tabs", (), "preference"),
        ("x", ("preferences",), "preference"),
        ("reflect:week", (), "reflection"),
        ("x", ("reflection",), "reflection"),
        ("self:style", (), "style"),
        ("self:name", (), "self_model"),
        ("self:lifestyle", (), "self_model"),
        ("project:x", (), "project"),
        ("colour", (), "fact"),
        ("цвет", (), "fact"),
    ],
)
def test_type(title: str, tags: tuple[str, ...], type_: str) -> None:
    assert inferred(title, tags=tags)[2] == type_


def test_a_note_without_a_key_is_a_note() -> None:
    assert inferred("", kind="note")[2] == "note"


@pytest.mark.parametrize(
    ("title", "source"),
    [
        ("file:a.py", "tool_observation"),
        ("edited:a.py", "tool_observation"),
        ("shared:file:a.py", "tool_observation"),
        ("profile:x", "explicit_user"),
        ("self:name", "agent_reflection"),
        ("reflect:x", "inferred"),
        ("colour", "explicit_user"),
    ],
)
def test_source(title: str, source: str) -> None:
    assert inferred(title)[3] == source


@pytest.mark.parametrize(
    ("title", "stability"),
    [
        ("session:mood", "temporary"),
        ("_task", "temporary"),
        ("tmp-x", "temporary"),
        ("tmpfile", "temporary"),
        ("scratchpad", "temporary"),
        ("Temp2", "temporary"),
        ("project:tempfiles of the build", "temporary"),
        ("tmp/build", "temporary"),
        ("scratched records", "durable"),
        ("tempting", "durable"),
        ("scratch 1", "temporary"),
        ("temperature", "durable"),
        ("template", "durable"),
        ("the tmp folder", "durable"),
    ],
)
def test_stability(title: str, stability: str) -> None:
    assert inferred(title)[4] == stability


@pytest.mark.parametrize(
    ("source", "confidence"),
    [
        ("explicit_user", 1.0),
        ("system", 1.0),
        ("tool_observation", 0.98),
        ("agent_reflection", 0.75),
        ("inferred", 0.6),
    ],
)
async def test_confidence_follows_source(api: Api, source: str, confidence: float) -> None:
    assert (await api.remember("x", source=source))["confidence"] == confidence


async def test_what_is_said_is_not_inferred(api: Api) -> None:
    note = await api.remember(
        "x", key="project:a", scope="user", subject="me", type="event", source="system", stability="temporary"
    )

    assert [note[n] for n in ("scope", "subject", "type", "source", "stability")] == [
        "user", "me", "event", "system", "temporary",
    ]  # fmt: skip


async def test_an_edit_infers_nothing_anew(api: Api) -> None:
    note = await api.remember("green", key="colour")
    edited = (await api.call("note.edit", id=note["id"], title="project:x", content="server file"))["note"]

    assert [edited["scope"], edited["type"]] == ["user", "fact"]


def test_a_number_is_needed_for_a_confidence() -> None:
    with pytest.raises(ValueError, match="not a number"):
        clamp(float("nan"))


@settings(derandomize=True)
@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_inference_takes_any_text(title: str, content: str, tags: list[str]) -> None:
    traits = infer("note", title, content, tuple(tags), Traits())

    assert 0 <= traits.confidence <= 1
    assert traits.scope in ("self", "user", "shared", "project", "session")


@pytest.mark.parametrize("title", ["", "e", "profile", "lifestyle", "relearned", "目次"])
def test_titles_without_a_hint_give_no_tags(title: str) -> None:
    assert title_tags(title) == ()
