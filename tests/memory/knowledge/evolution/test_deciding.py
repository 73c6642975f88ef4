"""What becomes of older notes: a line for each cue and language, and what holds for any."""

from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.reading import LONGEST, read
from shelfd.memory.knowledge.evolution.slots import slots_of, wanted
from shelfd.memory.knowledge.evolution.verdicts import Verdict

NOON = int(datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp() * 1e6)
SUPERSEDED = {Verdict.UPDATED, Verdict.CORRECTED}


def verdict(old: str, new: str, *, key: str | None = None, old_key: str | None = None, later: int = 1) -> str:
    return decide(Told("new", new, NOON + later, key), [Told("old", old, NOON, old_key)])["old"].verdict


UPDATED = [
    ("My blood pressure is 150.", "My blood pressure is 130."),
    ("web-3 is down.", "web-3 is back up."),
    ("We deploy with Jenkins.", "We deploy with GitHub Actions now."),
    ("The office Wi-Fi is called Falcon.", "They renamed the office Wi-Fi to Heron."),
    ("I'm training for the Berlin marathon.", "I dropped out of the Berlin marathon."),
    ("The deadline is Friday.", "The deadline was extended to next Wednesday."),
    ("The API returns XML.", "Since v2 the API returns JSON instead of XML."),
    ("The domain bad.example resolves to 203.0.113.7.", "The domain bad.example resolves to 203.0.113.9."),
    ("Die Müllabfuhr kommt montags.", "Die Müllabfuhr kommt jetzt mittwochs."),
    ("Our hotel in Rome is the Artemide.", "We changed the hotel in Rome to the Quirinale."),
    ("APT28 deployed X-Agent via spearphishing targeting NATO members",
     "APT28 stopped using X-Agent, switched to HeadLace backdoor"),
    ("Ben drinks tea.", "Ben no longer drinks tea."),
    ("Ben likes olives.", "Ben doesn't like olives anymore."),
    ("Ben smokes a pipe in the evening.", "Ben gave up smoking."),
    ("We use MySQL for billing.", "We migrated from MySQL to PostgreSQL."),
    ("Sam uses Vim.", "Sam switched to Emacs."),
    ("db01 runs PostgreSQL 15.", "db01 was upgraded to PostgreSQL 16."),
    ("We use HAProxy as load balancer.", "We replaced HAProxy with Envoy."),
    ("Brand rules Orsk.", "Haldor rules Orsk instead of Brand."),
    ("The project uses Python 3.10.", "The project uses Python 3.12 instead of Python 3.10."),
    ("Erik drives a Tesla.", "Erik sold his Tesla."),
    ("Clara lives in Lyon.", "Clara moved to Bergen."),
    ("Clara lives in Lyon.", "Clara lives in Turin."),
    ("The trip is in August.", "The trip was cancelled."),
    ("The demo is on Monday.", "The demo was postponed to Friday."),
    ("The rent is 900 euros.", "The rent went up to 950 euros."),
    ("Maria leads Project Heron.", "Tom leads Project Heron now."),
    ("The gate is open.", "The gate is closed."),
    ("Tests cover 74 % of the code.", "Tests cover 81 % of the code."),
    ("The CEO of Acme is Jane Roe.", "Acme's CEO is John Doe."),
    ("Ben prefers window seats.", "Ben prefers aisle seats."),
    ("Anna raucht.", "Anna raucht nicht mehr."),
    ("The pump is at the north dock.", "The pump moved from the north dock to the yard."),
    ("The spare oar is in the boathouse.", "The spare oar lies behind the stove now."),
    ("Baron Ulf rules Orsk.", "Baron Ulf has died."),
    ("The oven is a Bosch.", "The oven was replaced by a Smeg last week."),
    ("Mi tía Carmen vive en Sevilla.", "Mi tía Carmen se mudó de Sevilla a Cádiz."),
    ("Le serveur de sauvegarde se trouve à Lyon.", "Le serveur de sauvegarde a été déplacé de Lyon à Marseille."),
    ("Der Proxy lauscht auf Port 8080.", "Der Proxy lauscht auf Port 8443 statt auf 8080."),
    ("Der Termin ist am Montag.", "Der Termin wurde auf Dienstag verschoben."),
    ("Anna wohnt in Bonn.", "Anna wohnt in Köln."),
    ("Juan fuma.", "Juan dejó de fumar."),
    ("Lucía vive en Madrid.", "Lucía se mudó a Sevilla."),
    ("El equipo usa Jenkins.", "El equipo usa GitLab en lugar de Jenkins."),
    ("小明住在北京。", "小明搬到了上海。"),
    ("王芳喝咖啡。", "王芳不再喝咖啡了。"),
    ("田中さんは東京に住んでいます。", "田中さんは大阪に引っ越した。"),
    ("田中さんはコーヒーを飲む。", "田中さんはもうコーヒーを飲まない。"),
    ("The lamp is green.", "The lamp is not green but red."),
    ("Jo lives in Lyon.", "Jo no longer lives in Lyon but in Turin."),
    ("The edge hosts run Nginx.", "Nginx was replaced by Caddy on the edge hosts."),
    ("The project lead is Wei.", "Omar took over as project lead from Wei."),
    ("The licence is MIT.", "The licence was changed from MIT to Apache-2.0."),
    ("Paul is married to Kim.", "Paul got divorced last month."),
    ("The rent is 900 euros.", "The rent is 950 euros since January."),
    ("The on-call engineer this week is Ines.", "The on-call engineer this week is Raj."),
    ("Clara lives in Lyon.", "Clara moved back to Bergen."),
    ("Marta's phone number is 0171 555 0123.", "Marta's new phone number is 0171 555 0199."),
    ("The cat is called Mio.", "The cat is called Mia."),
    ("My car is a blue Golf.", "My car is a red Volvo."),
    ("Tom drinks three coffees a day.", "Tom no longer drinks coffee."),
    ("The office is open on Fridays.", "The office is closed on Fridays."),
    ("The user prefers spaces over tabs.", "The user prefers tabs over spaces."),
    ("The user wants answers in English.", "The user wants answers in French."),
    ("Use semicolons in JavaScript.", "Don't use semicolons in JavaScript."),
    ("web06 serves the download page.", "web06 was decommissioned."),
    ("Mara is in the tower.", "Mara has left the tower and is now in the forest."),
    ("We do not ship to Canada.", "We ship to Canada as well now."),
    ("Milo is the treasurer.", "Milo resigned as treasurer."),
    ("I am learning Swedish.", "I gave up learning Swedish."),
    ("We use Slack for team chat.", "We've moved from Slack to Mattermost."),
    ("Zoe is coming to the party.", "Zoe isn't coming to the party after all."),
    ("Jana wohnt in Köln.", "Jana wohnt nicht mehr in Köln, sondern in Bonn."),
    ("Der Server läuft mit Debian 11.", "Der Server läuft seit März mit Debian 12."),
    ("El servidor usa Debian 11.", "El servidor ahora usa Debian 12."),
    ("Uso Windows.", "Ya no uso Windows."),
    ("密码是xyz789。", "密码改成了abc123。"),
    ("会議は水曜日です。", "会議は金曜日に変更されました。"),
    ("Pierre habite à Nantes.", "Pierre habite maintenant à Lyon."),
    ("Claire boit du café.", "Claire ne boit plus de café."),
    ("La réunion est mardi.", "La réunion a été reportée à jeudi."),
    ("Le serveur est à Paris.", "Le serveur n'est pas à Paris, mais à Lyon."),
    ("Marc travaille chez Airbus.", "Marc a quitté Airbus."),
    ("Le chat s'appelle Mio.", "Le chat s'appelle Mia."),
]  # fmt: skip

CORRECTED = [
    ("The review is on Wednesday.", "Correction: the review is on Thursday, not on Wednesday."),
    ("The heir is Alden.", "The wizard was wrong: the heir is Runa."),
    ("The spare key is in the red box.", "I was mistaken, the spare key is in the blue box."),
    ("The ring is gold.", "The ring is silver, not gold."),
    ("The train leaves at 7:41.", "Actually, the train leaves at 7:14."),
    ("Die Besprechung ist am Mittwoch.", "Korrektur: Die Besprechung ist am Donnerstag, nicht am Mittwoch."),
    ("Mi comida favorita es la pizza.", "En realidad, mi comida favorita es la paella."),
    ("猎鹰项目的负责人是小明。", "更正：猎鹰项目的负责人是李娜。"),
]

STAYS = [
    ("We deploy with Jenkins.", "We deploy with GitHub Actions."),
    ("The deadline is Friday.", "The deadline is next Friday."),
    ("Ann trains for the Berlin marathon.", "Ben dropped out of the Berlin marathon."),
    ("Emma prend des antibiotiques.", "Léo ne prend plus d'antibiotiques depuis lundi."),
    ("The feature is disabled in staging.", "The feature is enabled in production."),
    ("On 3 March the gateway went down for eleven minutes.", "On 3 April the gateway went down for eleven minutes."),
    ("APT28 uses X-Agent.", "A group that imitates APT28 stopped using X-Agent."),
    ("Anna drinks coffee.", "Anna drinks tea, and Ben no longer drinks coffee."),
    ("Lena drinks coffee.", "Lena's mother no longer drinks coffee."),
    ("Ruth works in Cork.", "Ruth moved from Cork to Galway."),
    ("The party is in May.", "The launch is in June, not the party."),
    ("Captain Voss founded the academy.", "Captain Voss is dead."),
    ("The flight from Lisbon leaves at 6:40.", "The flight to Lisbon leaves at 7:10."),
    ("Dr. Weiss prescribed 10 mg of ramipril.", "Dr. Weiss prescribed 20 mg of atorvastatin instead of 10 mg."),
    ("The office is closed on Sundays.", "The office is closed on Fridays."),
    ("FIN7 used Carbanak in 2018.", "FIN7 has stopped using Carbanak."),
    ("I like olive oil.", "I don't like olives anymore."),
    ("Deploy 1842 failed.", "Deploy 1843 failed."),
    ("APT29 uses X-Agent.", "APT28 stopped using X-Agent."),
    ("APT28 uses X-Agent.", "APT28 uses HeadLace."),
    ("Alice has a golden retriever.", "Alice's favourite pizza is Margherita."),
    ("Port 80 is open.", "Port 443 is closed."),
    ("Greta ran 5 km on Saturday.", "Greta ran 7 km on Sunday."),
    ("The latency on Monday was 40 ms.", "The latency on Tuesday was 60 ms."),
    ("Clara lives in Lyon.", "In 2018 Clara lived in Madrid."),
    ("Clara lives in France.", "Clara lives in Lyon."),
    ("David lives in Trondheim.", "David may move to Bergen."),
    ("The deadline is 2 May.", "Is the deadline 9 May?"),
    ("The gate is closed.", "The bard claims that the gate is open."),
    ("The gate is closed.", "Mira dreamed that the gate was open."),
    ("Maria is the lead of the search team.", "She is the lead of the search team."),
    ("The ticket costs 29 euros.", "The ticket costs 34 dollars."),
    ("Sam is in Munich.", "Sam is in a meeting."),
    ("The soup is made with onions.", "The soup is made with carrots."),
    ("Eva lives in Linz. She keeps bees.", "Eva lives in Graz."),
    ("We have a boat trailer.", "We sold the boat."),
    ("I prefer coffee ice cream.", "I prefer tea over coffee these days."),
    ("Chloé est née à Lyon.", "Chloé a déménagé de Lyon à Nantes."),
    ("Paul a travaillé chez Renault en 2008.", "Paul ne travaille plus chez Renault."),
    ("Anna mag Sushi.", "Anna mag Ramen."),
    ("Juan habla francés.", "Juan habla alemán."),
    ("王芳的朋友是李雷。", "王芳的朋友是韩梅。"),
    ("ミラは熊を倒した。", "ミラは狼を倒した。"),
]


@pytest.mark.parametrize(("old", "new"), UPDATED)
def test_what_no_longer_holds_is_updated(old: str, new: str) -> None:
    assert verdict(old, new) == "updated"


@pytest.mark.parametrize(("old", "new"), CORRECTED)
def test_what_was_never_so_is_corrected(old: str, new: str) -> None:
    assert verdict(old, new) == "corrected"


@pytest.mark.parametrize(("old", "new"), STAYS)
def test_what_may_also_be_so_stays(old: str, new: str) -> None:
    assert verdict(old, new) == "stays"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The door is locked.", "The door is not locked."),
        ("Paul's blood type is A positive.", "Paul's blood type is AB negative."),
        ("Sam was born in Graz.", "Sam was born in Linz."),
        ("Anna mag Oliven.", "Anna mag keine Oliven."),
        ("王芳喜欢猫。", "王芳不喜欢猫。"),
    ],
)
def test_a_contradiction_that_nothing_decides_is_a_conflict(old: str, new: str) -> None:
    assert verdict(old, new) == "conflict"
    assert verdict(new, old) == "conflict"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The cable is 2 m long.", "The cable is 200 cm long."),
        ("The CEO of Acme is Jane Roe.", "Acme's CEO is Jane Roe."),
        ("Eva lives in Linz.", "eva now lives in Linz"),
    ],
)
def test_what_says_the_same_is_a_duplicate(old: str, new: str) -> None:
    assert verdict(old, new) == "duplicate"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Eva stopped eating fish.", "Eva stopped buying fish."),
        ("Eva quit smoking.", "Eva quit drinking."),
        ("Eva sold her bike.", "Eva dropped her bike."),
        ("The price rose to 5 euros.", "The price fell to 5 euros."),
        ("Haldor rules Orsk instead of Brand.", "Haldor rules Orsk instead of Alden."),
        ("King Aldrik died in Rome.", "King Aldrik died in Bonn."),
        ("König Aldrik starb in der Schlacht am Dornfeld.", "König Aldrik starb bei einem Brand im Nordturm."),
        ("König Aldrik ist in Rom gestorben.", "König Aldrik ist in Bonn gestorben."),
        ("Ana's bike was stolen at the station.", "Ana's bike was stolen in Ghent."),
    ],
)
def test_what_differs_in_what_changed_is_no_duplicate(old: str, new: str) -> None:
    assert verdict(old, new) == "stays"
    assert verdict(new, old) == "stays"
    assert verdict(old, old) == "duplicate"


def test_a_key_has_one_value_and_another_key_is_another_thing() -> None:
    assert verdict("teal", "blue", key="accent", old_key="accent") == "updated"
    assert verdict("teal", "teal", key="accent", old_key="accent") == "duplicate"
    assert verdict("teal", "blue", key="accent", old_key="accents") == "stays"
    assert verdict("teal", "blue", key="accent", old_key="accent", later=-1) == "stays"


@pytest.mark.parametrize(("old", "new"), UPDATED + CORRECTED)
def test_what_is_told_of_an_earlier_time_supersedes_nothing(old: str, new: str) -> None:
    assert verdict(old, new, later=-1) == "stays"


def test_a_text_too_long_to_be_read_decides_nothing() -> None:
    assert read("The gate is open. " * LONGEST) == ()
    assert verdict("The gate is open.", "The gate is closed. " * LONGEST) == "stays"


NAMES = st.sampled_from(["Ada", "Bo", "Cleo", "Dora", "web01", "web02", "APT28", "Halcyon"])
PLACES = st.sampled_from(["Lyon", "Turin", "Bergen", "Graz"])
TEXTS = st.sampled_from([text for pair in UPDATED + CORRECTED + STAYS for text in pair]) | st.text(max_size=60)


@given(TEXTS, st.lists(TEXTS, max_size=8), st.randoms(use_true_random=False))
def test_decisions_depend_neither_on_the_order_nor_on_the_other_notes(new: str, old: list[str], random: Random) -> None:
    told = Told("new", new, NOON)
    older = [Told(str(at), text, NOON - 1) for at, text in enumerate(old)]
    found = decide(told, older)
    shuffled = list(older)
    random.shuffle(shuffled)
    assert decide(told, shuffled) == found
    assert {id_: each for one in older for id_, each in decide(told, [one]).items()} == found


@given(TEXTS, TEXTS)
def test_duplicates_and_conflicts_hold_both_ways(one: str, other: str) -> None:
    there, back = verdict(one, other, later=0), verdict(other, one, later=0)
    assert (there == "duplicate") == (back == "duplicate")
    assert there != "conflict" or back in ("conflict", "corrected", "updated")


@given(NAMES, NAMES, PLACES, PLACES)
def test_nothing_supersedes_across_subjects(one: str, other: str, here: str, there: str) -> None:
    for old, new in ((f"{one} lives in {here}.", f"{other} lives in {there}."),
                     (f"{one} lives in {here}.", f"{other} no longer lives in {here}."),
                     (f"{one}'s password is {here}.", f"Correction: {other}'s password is {there}.")):  # fmt: skip
        assert one == other or verdict(old, new) not in SUPERSEDED


@given(NAMES, PLACES)
def test_a_negation_turns_a_repetition_into_a_conflict(name: str, place: str) -> None:
    said, denied = f"{name} works in {place}.", f"{name} does not work in {place}."
    assert verdict(said, said) == "duplicate"
    assert verdict(said, denied) == "conflict"
    assert verdict(denied, denied) == "duplicate"


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_amounts_are_compared_in_base_units(one: int, other: int) -> None:
    expected = "duplicate" if one == other else "updated"
    assert verdict(f"The bag weighs {one} kg.", f"The bag weighs {other * 1000} g.") == expected


@pytest.mark.parametrize(
    ("before", "after", "becomes"),
    [
        ("Anna moved to Porto.", "Anna moved to Lisbon.", "updated"),
        ("I moved to Berlin.", "I moved to Vienna.", "updated"),
        ("Anna moved to Lisbon.", "Anna moved to Portugal.", "stays"),
        ("Anna moved to Neovim.", "Anna moved to Lisbon.", "stays"),
        ("Anna moved to Lisbon.", "Anna moved to Acme.", "stays"),
        ("Anna moved to Lisbon.", "Paul moved to Porto.", "stays"),
        ("Anna moved to Lisbon with Tom.", "Anna moved to Porto.", "stays"),
        ("Anna moved to Lisbon.", "Anna moved to Lisbon.", "duplicate"),
    ],
)
def test_who_moves_on_has_left_the_place_before(before: str, after: str, becomes: str) -> None:
    assert verdict(before, after) == becomes
    if becomes == Verdict.UPDATED:  # and the older one is looked at
        assert not set(slots_of(read(before))).isdisjoint(wanted(read(after)))
        assert verdict(before, after, later=-1) == Verdict.STAYS
