"""What of a conversation is promoted: what answered questions, not what was said around it."""

from fakes import Api
from memory_file import MemoryFile

#: Who says what, turn by turn. Two old friends write to each other.
CHAT = (
    ("Irma", "Hi Benno! How have you been?"),
    ("Benno", "Hey Irma, good to hear from you! All fine here."),
    ("Irma", "I bought a second-hand loom in April and I am weaving rugs now."),
    ("Benno", "Wow, that sounds wonderful!"),
    ("Benno", "We adopted a greyhound called Pepper from the shelter in Graz."),
    ("Irma", "Oh, how sweet! Give her a hug from me."),
    ("Irma", "My sister opened a bakery on Tern Street, the rye bread is the best in town."),
    ("Benno", "Great! I have to visit you soon."),
    ("Benno", "I broke my wrist while ice skating, so no violin until March."),
    ("Irma", "Oh no, take care of yourself!"),
    ("Irma", "The weaving class meets on Thursdays at the old mill."),
    ("Benno", "Thanks, Irma. Talk to you soon!"),
    ("Irma", "Bye Benno, have a nice evening!"),
)
TOLD = {2, 4, 6, 8, 10}
QUESTIONS = (
    "When did Irma buy the loom?",
    "What is the greyhound of Benno called?",
    "Where did Benno adopt the greyhound?",
    "What did Irma's sister open on Tern Street?",
    "How did Benno break his wrist?",
    "On which day does the weaving class meet?",
    "Which car does Irma drive?",
    "Who painted the portrait in the town hall?",
)


async def test_neither_greetings_nor_what_only_came_along_is_promoted(api: Api, file: MemoryFile) -> None:
    for turn, (author, said) in enumerate(CHAT, start=1):
        await api.remember(said, author=author, session_id="letters", turn=turn)
    came_along = set()
    for session in ("mon", "tue", "wed", "thu"):
        for question in QUESTIONS:
            reply = await api.call("recall", query=question, k=3, session_id=session)
            came_along |= {hit["note"]["content"] for hit in reply["results"] if not hit["relevant"]}

    result = await api.call("promote")

    assert came_along
    assert result["added"] == len(TOLD)
    for turn, (_, said) in enumerate(CHAT):
        assert (said in file.text) == (turn in TOLD)
