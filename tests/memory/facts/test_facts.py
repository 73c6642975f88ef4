"""The default codec: what is found, how surely, and that it stays right while facts come and go."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory.facts.keysets import UNRELATED, keys, misspelt, question
from memory.facts.one_nugget import FactMemory
from shelfd.memory.facts import THRESHOLD, FactAnswer, Options
from shelfd.memory.facts.belief import confidence
from shelfd.memory.notes.note import fold_key


def memory_of(*facts: tuple[str, str], aliases: Sequence[str] = ()) -> FactMemory:
    memory = FactMemory()
    for number, (key, value) in enumerate(facts):
        memory.put(f"fact-{number}", key, value, aliases)
    return memory


def value(answer: FactAnswer | None) -> str | None:
    return answer.value if answer else None


@pytest.fixture(scope="module")
def many() -> tuple[list[str], FactMemory]:
    """512 facts: what the original calls its capacity."""
    names = keys(512, seed=1)
    return names, memory_of(*((name, f"value of {name}") for name in names))


# ------------------------------------------------------------------ a few facts
def test_a_fact_is_recalled_by_its_key() -> None:
    answer = memory_of(("name", "Alice")).recall("name")
    assert answer == FactAnswer("fact-0", "name", "Alice", 0.99, 1.0)


@pytest.mark.parametrize("query", ["NAME", "  name ", "ｎａｍｅ", "Name"])
def test_case_form_and_blanks_make_no_difference(query: str) -> None:
    answer = memory_of(("name", "Alice"), ("pet", "cat")).recall(query)
    assert answer is not None
    assert (answer.value, answer.confidence) == ("Alice", 0.99)


def test_a_fact_put_again_is_one_fact() -> None:
    memory = memory_of(("name", "Alice"))
    memory.put("fact-0", "Name", "Bob")
    assert len(memory) == 1
    assert memory.recall("name") == FactAnswer("fact-0", "Name", "Bob", 0.99, 1.0)


def test_a_removed_fact_is_gone_and_removing_it_again_does_nothing() -> None:
    memory = memory_of(("name", "Alice"))
    assert memory.remove("fact-0")
    assert not memory.remove("fact-0")
    assert memory.recall("name") is None
    assert len(memory) == 0


def test_a_renamed_fact_answers_by_its_new_key_only() -> None:
    memory = memory_of(("name", "Alice"), ("pet", "cat"))
    memory.put("fact-0", "alias", "Alice")
    assert memory.recall("name") is None
    assert value(memory.recall("alias")) == "Alice"


def test_two_rows_cannot_have_one_key() -> None:
    memory = memory_of(("name", "Alice"))
    with pytest.raises(ValueError, match="another fact"):
        memory.put("other", "NAME", "Bob")
    assert value(memory.recall("name")) == "Alice"


def test_an_empty_memory_or_query_answers_nothing() -> None:
    assert FactMemory().recall("name") is None
    memory = memory_of(("name", "Alice"))
    assert [memory.recall(query) for query in ("", "  ", "?", "the")] == [None] * 4


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("color", "blue"),
        ("how to deploy", "git push"),
        ("which python version", "3.11"),
        ("what food do they like", "pizza"),
        ("favourite colour", "blue"),
        ("python versions", "3.11"),
    ],
)
def test_questions_find_the_fact_they_are_about(query: str, wanted: str) -> None:
    memory = memory_of(
        ("favorite color", "blue"),
        ("deploy-process", "git push"),
        ("python-version", "3.11"),
        ("favorite-food", "pizza"),
    )
    assert value(memory.recall(query)) == wanted


def test_a_question_about_something_else_is_not_answered() -> None:
    memory = memory_of(("deploy-process", "git push"), ("python-version", "3.11"))
    assert memory.recall("weather forecast tomorrow") is None


def test_something_else_of_the_same_owner_is_not_believed() -> None:
    memory = memory_of(("email of Alice Smith", "a@b.c"), ("email of Bob Jones", "b@b.c"), ("phone of Bob Jones", "1"))
    for query in ("phone of Alice Smith", "fax of Alice Smith"):
        answer = memory.recall(query)
        assert answer is None or answer.confidence < 0.5
    known = memory.recall("what is the email of Alice Smith?")
    assert known is not None
    assert known.confidence > 0.9


def test_an_ambiguous_question_is_answered_without_confidence_or_not_at_all() -> None:
    memory = memory_of(("amber budget", "1"), ("cedar budget", "2"), ("raven budget", "3"), ("amber owner", "4"))
    answer = memory.recall("the budget")
    assert answer is None or (answer.confidence < 0.5 and answer.margin < 0.05)


def test_facts_of_one_value_are_no_rivals() -> None:
    memory = memory_of(("amber budget", "10"), ("cedar budget", "10"), ("raven owner", "Eve"))
    answer = memory.recall("which budget")
    assert answer is not None
    assert answer.value == "10"
    assert answer.margin > 0.2


@pytest.mark.parametrize(
    ("key", "query"),
    [
        ("東京の天気", "東京の天気は？"),
        ("любимый цвет", "какой мой любимый цвет"),
        ("αγαπημένο χρώμα", "αγαπημένο χρωμα"),
        ("لون مفضل", "لون مفضل؟"),
        ("पसंदीदा रंग", "पसंदीदा रंग क्या"),
        ("Straße", "STRASSE"),
        ("🦊", "🦊"),
    ],
)
def test_keys_of_any_script_are_found(key: str, query: str) -> None:
    memory = memory_of((key, "this"), ("etwas anderes", "that"), ("другой ключ", "other"), ("大阪の人口", "people"))
    assert value(memory.recall(key)) == "this"
    assert value(memory.recall(query)) == "this"


# ------------------------------------------------------------------ aliases
def test_aliases_are_further_keys() -> None:
    memory = FactMemory()
    memory.put("f", "continuous integration server", "ci.example", ["build machine", "CI"])
    assert value(memory.recall("ci")) == "ci.example"
    assert value(memory.recall("where is the build machine")) == "ci.example"
    memory.put("f", "continuous integration server", "ci.example", ["CI"])
    assert memory.recall("where is the build machine") is None


def test_an_alias_of_two_facts_is_ambiguous_until_one_goes() -> None:
    memory = FactMemory()
    memory.put("f", "first server", "1", ["box"])
    memory.put("g", "second server", "2", ["box"])
    shared = memory.recall("box")
    assert shared is not None
    assert (shared.margin, shared.confidence < 0.5) == (0.0, True)
    memory.remove("f")
    assert memory.recall("box") == FactAnswer("g", "second server", "2", 0.99, 1.0)


def test_a_key_goes_before_an_alias() -> None:
    memory = FactMemory()
    memory.put("f", "first", "1", ["second"])
    memory.put("g", "second", "2")
    assert value(memory.recall("second")) == "2"
    memory.remove("g")
    assert value(memory.recall("second")) == "1"


# ------------------------------------------------------------------ options and status
def test_status_says_how_full_the_banks_are() -> None:
    memory = FactMemory(Options(dimension=100, banks=2))
    for number in range(11):
        memory.put(str(number), f"key{number}", "v")

    status = memory.status()
    assert (status.capacity, status.capacity_used_pct) == (10, 110.0)


@pytest.mark.parametrize("wrong", [{"dimension": 0}, {"banks": 0}, {"ensembles": 0}, {"max_facts": -1}])
def test_options_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="positive"):
        Options(**wrong)


def test_a_dimension_beyond_sixteen_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 65535"):
        Options(dimension=65_536)


def test_keys_without_words_are_found_exactly_and_disturb_nobody() -> None:
    memory = FactMemory(Options(dimension=8))
    for number, key in enumerate(("🦊", "!!", "name of the fox", "…")):
        memory.put(str(number), key, f"value {number}")
    assert value(memory.recall("🦊")) == "value 0"
    assert value(memory.recall("what is the name of the fox")) == "value 2"
    assert memory.recall("🦆") is None
    assert [memory.remove(str(number)) for number in range(4)] == [True] * 4


def test_a_whole_page_as_a_query_is_read_from_its_beginning(many: tuple[list[str], FactMemory]) -> None:
    names, memory = many
    page = names[0].replace("-", " ") + " " + " ".join(f"wrod{number}x" for number in range(3000))
    answer = memory.recall(page)
    assert answer is None or answer.key == names[0]


@pytest.mark.parametrize("options", [Options(dimension=64), Options(dimension=1000, banks=1), Options(ensembles=2)])
def test_other_shapes_answer_as_well(options: Options) -> None:
    memory = FactMemory(options)
    for name in keys(40):
        memory.put(name, name, f"value of {name}")
    assert all(value(memory.recall(name)) == f"value of {name}" for name in keys(40))
    right = sum(value(memory.recall(question(name))) == f"value of {name}" for name in keys(40))
    assert right >= 36


def test_echoes_confirm_the_rows() -> None:
    memory = memory_of(*((name, f"value of {name}") for name in keys(100)))
    assert all(memory.echo(f"fact-{number}").confirmed for number in range(100))
    with pytest.raises(KeyError):
        memory.echo("nobody")


# ------------------------------------------------------------------ accuracy, 512 facts
def test_every_key_is_exact(many: tuple[list[str], FactMemory]) -> None:
    names, memory = many
    answers = [memory.recall(name) for name in names]
    assert [value(answer) for answer in answers] == [f"value of {name}" for name in names]
    assert all(answer and answer.confidence >= 0.9 for answer in answers)


def test_a_question_with_all_words_of_a_key_is_always_answered(many: tuple[list[str], FactMemory]) -> None:
    names, memory = many
    answers = [memory.recall(question(name)) for name in names]
    assert [value(answer) for answer in answers] == [f"value of {name}" for name in names]
    assert min(answer.confidence for answer in answers if answer) > 0.5


def test_a_question_with_all_words_of_a_key_is_sure_however_common_one_of_them_is() -> None:
    names = [f"{owner} {trait}" for owner in ["acme", *(f"firm{n}" for n in range(400))] for trait in ("budget", "fax")]
    memory = memory_of(*((name, f"value of {name}") for name in names), ("acme deadline", "friday"))
    for name in ("acme budget", "acme fax", "firm17 budget"):
        answer = memory.recall(f"what is the {name}?")
        assert answer is not None
        assert (answer.key, answer.confidence > 0.9) == (name, True)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_misspelt_key_is_found(many: tuple[list[str], FactMemory], seed: int) -> None:
    names, memory = many
    drawn = random.Random(seed)
    right = sum(value(memory.recall(misspelt(name, drawn))) == f"value of {name}" for name in names)
    assert right / len(names) >= 0.95


def test_unrelated_questions_are_not_answered(many: tuple[list[str], FactMemory]) -> None:
    assert sum(many[1].recall(query) is not None for query in UNRELATED) / len(UNRELATED) <= 0.02


def test_wrong_answers_are_not_believed(many: tuple[list[str], FactMemory]) -> None:
    names, memory = many
    held, drawn = set(names), random.Random(4)
    absent = [name for name in keys(2000, seed=9) if name not in held][:300]
    wrong = [
        *(memory.recall(question(name)) for name in absent),
        *(memory.recall(name) for name in absent),
        *(answer for name in names if value(answer := memory.recall(misspelt(name, drawn))) != f"value of {name}"),
        *(memory.recall(f"tell me the {name.split('-')[2]}") for name in absent),
    ]
    assert sum(answer is not None and answer.confidence > 0.5 for answer in wrong) / len(wrong) <= 0.02


def test_exact_stays_exact_far_beyond_the_capacity() -> None:
    names = [f"key {number} of {number % 97}" for number in range(5000)]
    memory = memory_of(*((name, f"value of {name}") for name in names))
    assert memory.status().capacity_used_pct > 2000
    assert all(value(memory.recall(name)) == f"value of {name}" for name in names)


# ------------------------------------------------------------------ confidence
shares = st.floats(0, 1)


@given(shares, shares, shares, st.none() | shares)
def test_more_likeness_and_more_margin_never_lower_the_confidence(
    cosine: float, margin: float, more: float, overlap: float | None
) -> None:
    base = confidence(cosine, margin, overlap=overlap)
    assert 0 <= base <= 0.99
    assert confidence(max(cosine, more), margin, overlap=overlap) >= base
    assert confidence(cosine, max(margin, more), overlap=overlap) >= base
    assert confidence(cosine, margin) >= base


def test_words_that_do_not_fit_keep_the_confidence_below_one_half() -> None:
    assert confidence(1.0, 1.0) == 0.99
    assert confidence(1.0, 1.0, overlap=0.9) < 0.5
    assert confidence(1.0, 1.0, overlap=1 / 6) < THRESHOLD
    assert confidence(1.0, 0.0) < 0.5


# ------------------------------------------------------------------ against a model
WORDS = st.sampled_from("amber basket cedar dragon ember folder ginger Überweg 東京 42".split())
KEYS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
ROWS = st.sampled_from([f"row-{number}" for number in range(8)])


class MemoryMatchesDict(RuleBasedStateMachine):
    """Put, rename, revalue and remove, against dictionaries; and against a memory that knows only what is left."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = FactMemory(Options(dimension=128, banks=2))
        self.model: dict[str, tuple[str, str, tuple[str, ...]]] = {}

    @rule(row=ROWS, key=KEYS, text=WORDS, aliases=st.lists(KEYS, max_size=2).map(tuple))
    def put(self, row: str, key: str, text: str, aliases: tuple[str, ...]) -> None:
        taken = any(other != row and fold_key(held[0]) == fold_key(key) for other, held in self.model.items())
        if taken:
            with pytest.raises(ValueError, match="another fact"):
                self.memory.put(row, key, text, aliases)
        else:
            self.memory.put(row, key, text, aliases)
            self.model[row] = (key, text, aliases)

    @rule(row=ROWS)
    def remove(self, row: str) -> None:
        assert self.memory.remove(row) == (self.model.pop(row, None) is not None)

    @invariant()
    def every_key_is_answered_exactly(self) -> None:
        assert len(self.memory) == len(self.model)
        for row, (key, text, _) in self.model.items():
            assert self.memory.recall(key) == FactAnswer(row, key, text, 0.99, 1.0)

    @invariant()
    def every_alias_is_answered_by_a_fact_that_has_it(self) -> None:
        held = {fold_key(key) for key, _, _ in self.model.values()}
        for _, _, aliases in self.model.values():
            for alias in aliases:
                answer = self.memory.recall(alias)
                assert answer is not None
                if fold_key(alias) not in held:
                    assert fold_key(alias) in {fold_key(name) for name in self.model[answer.row][2]}

    def teardown(self) -> None:
        for row in list(self.model):
            self.memory.remove(row)
        assert self.memory.recall("amber basket") is None
        keys = self.memory.facts._keys
        assert len(self.memory) == len(keys) == len(keys.lexicon) == 0


TestMemoryMatchesDict = MemoryMatchesDict.TestCase
TestMemoryMatchesDict.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
