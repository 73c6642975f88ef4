"""Texts in another language than the shelf's: which it is, and that their word forms are found."""

import pytest

from fakes import Api
from shelfd.memory.recall.analyzer import Analyzer

ENGLISH = (
    "die hard is a movie",
    "the war was long",
    "he has no car",
    "la la land and el paso",
    "what is on the menu at les deux magots",
    "un resolution",
    "hat sizes",
    "git diff main",
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("wann wird die Tonne geleert", "german"),
        ("Der Nachbar über uns spielt Posaune, aber nie nach acht.", "german"),
        ("¿dónde está el pasaporte?", "spanish"),
        ("La llave del trastero está en la cocina", "spanish"),
        ("où est le passeport", "french"),
        ("où se trouve la clé de la cave", "french"),
        ("combien a coûté le vélo", "french"),
        ("Les clés sont chez nous, avec celles du garage.", "french"),
        ("备用钥匙在哪里", "zh"),
        ("会議はいつですか", "ja"),
        *((text, None) for text in ENGLISH),
    ],
)
def test_stop_words_and_script_show_the_language(text: str, language: str | None) -> None:
    analyzer = Analyzer()
    found = analyzer.language_of(analyzer.words(text))
    assert (found and found.name) == language


def test_a_shelf_in_that_language_takes_it_for_its_own() -> None:
    analyzer = Analyzer(language="german")
    found = analyzer.language_of(analyzer.words("wann wird die Tonne geleert"))
    assert found is None or found.name != "german"


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("Der Vermieter hat die Heizungen im Keller gestern ausgetauscht.", "wer hat die Heizung ausgetauscht?"),
        ("Las llaves de la casa las tienen los vecinos.", "¿quién tiene la llave de la casa?"),
        ("Les voisins nous ont donné les clés de la maison.", "qui a la clé de la maison?"),
        ("洗衣机漏水,师傅说要换密封圈。", "洗衣机怎么了"),
        ("会議は木曜日の三時からです。", "会議はいつですか"),
    ],
)
async def test_word_forms_are_found_and_question_words_are_not_looked_for(either: Api, note: str, query: str) -> None:
    await either.remember("The heating in the cellar is new, says the landlord.")
    wanted = await either.remember(note)
    results = (await either.call("recall", query=query))["results"]
    assert [hit["note"]["id"] for hit in results if hit["relevant"]] == [wanted["id"]]


async def test_a_short_note_that_does_not_show_its_language_is_found_by_its_words(either: Api) -> None:
    wanted = await either.remember("600 555 019", key="fontanero")
    results = (await either.call("recall", query="¿cuál es el teléfono del fontanero?"))["results"]
    assert [hit["note"]["id"] for hit in results if hit["relevant"]] == [wanted["id"]]


def test_english_is_read_as_before() -> None:
    analyzer = Analyzer()
    for text in ENGLISH:
        assert analyzer.parse_query(text).terms == tuple(
            sorted({analyzer.term(word) for word in analyzer.words(text) if analyzer.is_content(word)})
        )


def test_a_long_text_of_many_words_is_read() -> None:
    """It took minutes when each word was looked for among all of them."""
    text = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(80_000))
    assert len(Analyzer().parse_text(text).words) == 79_999
