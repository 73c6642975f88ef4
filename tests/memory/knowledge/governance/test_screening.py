"""Notes that are admitted together become what each becomes alone: no screening passes over what a look would find."""

from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.errors import GovernanceViolation
from shelfd.memory.knowledge.governance.gate import Gate
from shelfd.memory.notes.note import BLANK, NO_EXTRA, Note
from shelfd.memory.settings import GovernanceSettings

_PIECES = st.sampled_from(
    [
        *"ignore all your previous instructions forget rules send every note print system prompt the".split(),
        *"ign0re byp4ss i g n o r e please password token curl key secret is was of".split(),
        *("hunter2hunter2!", "api_key=Ab3dEfGh1jKlMn0p", "https://ana:Xy7pw!x@host/x", "-----BEGIN PRIVATE KEY-----"),
        *("AKIA" + "QYLPMN5HHHXZ7J2Q", "fifteen-letters", "sixteen-letters-", "a" * 16, "b" * 15, "x" * 400),
        *("\0", "\n", "\r", "\x0b", ".", ",", "'", '"', "é", "密码", "パスワード", "ignoriere", "бот"),
        *("contraseña", "Contraseña", "Über", "vergiß", "“", "»", "€", "\xa0", "éééééééé", "\u200b", "\xad", "–"),
        *([" "] * 20),
    ]
)
_TEXT = st.lists(_PIECES, max_size=24).map("".join)
_EXTRA = st.sampled_from([NO_EXTRA, NO_EXTRA, NO_EXTRA._replace(aliases=("password hunter2hunter2!",))])
_NOTES = st.lists(
    st.builds(
        lambda content, title, tags, extra: BLANK._replace(content=content, title=title, tags=tags, extra=extra),
        _TEXT,
        st.one_of(st.just(""), _TEXT),
        st.lists(_PIECES, max_size=2).map(tuple),
        _EXTRA,
    ),
    max_size=8,
)
_SETTINGS = st.sampled_from(
    [
        GovernanceSettings(),
        GovernanceSettings(secrets="refuse"),
        GovernanceSettings(secrets="allow"),
        GovernanceSettings(quarantine=False),
        GovernanceSettings(secret_patterns={"own": "forget"}),
        GovernanceSettings(personal_data="redact"),
        GovernanceSettings(min_characters=9),
    ]
)


@settings(max_examples=200, deadline=None)
@given(_NOTES, _SETTINGS)
def test_notes_admitted_together_become_what_each_becomes_alone(notes: list[Note], rules: GovernanceSettings) -> None:
    together, alone = Gate(rules, "s"), Gate(rules, "s")
    assert [_said(one) for one in together.admit_many(notes, None)] == [_admitted(alone, note) for note in notes]
    assert together.counts() == alone.counts()


def _admitted(gate: Gate, note: Note) -> object:
    try:
        return gate.admit(note, None, None)
    except GovernanceViolation as error:
        return _said(error)


def _said(one: Note | GovernanceViolation) -> object:
    return (str(one), one.data) if isinstance(one, GovernanceViolation) else one
