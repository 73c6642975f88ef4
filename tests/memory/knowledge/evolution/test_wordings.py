"""What is found by the form of a sentence, whatever its words: unlisted verbs, attributes, places, opposites, times."""

from itertools import product

import pytest

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.slots import slots_of, wanted, withdrawing
from shelfd.memory.knowledge.evolution.verdicts import Verdict
from shelfd.memory.knowledge.evolution.withdrawing import withdrawals

SUPERSEDED = {Verdict.UPDATED, Verdict.CORRECTED}


def verdict(old: str, new: str) -> Verdict:
    return decide(Told("new", new, 2), [Told("old", old, 1)])["old"].verdict


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We snorkel on Sundays.", "We no longer snorkel on Sundays."),
        ("Wir zelten im Mai.", "Wir zelten im Mai nicht mehr."),
        ("Nosotros patrullamos los lunes.", "Nosotros ya no patrullamos los lunes."),
        ("The mouthpiece of the guild is Odo.", "The mouthpiece of the guild is Pell."),
        ("La contraseña del faro es mar-1.", "La contraseña del faro es mar-2."),
        ("The owl sleeps beneath Mill Bridge.", "The owl sleeps beneath Toll Bridge."),
        ("Der Ofen steht im Hof.", "Ich habe den Ofen in den Keller gestellt."),
        ("El horno está en el patio.", "He puesto el horno en el sótano."),
        ("Le four est dans la cour.", "J'ai mis le four dans la cave."),
        ("I have a Leica.", "I traded my Leica for a Nikon."),
        ("The scroll is hidden in the barn.", "The scroll is hidden behind the altar."),
        ("The relay is trusted.", "The relay is untrusted."),
        ("The forecast is issued with low certainty.", "The forecast is issued with high certainty."),
        ("The door of the mill is green.", "The door of the mill is blue."),
        ("The audit is on the last Friday of the month.", "The audit is on the first Tuesday of the month."),
        ("The pump switches on at 6:15.", "The pump switches on at 5:45."),
        ("El taller cierra a las seis.", "El taller cierra a las siete y media."),
        ("Le car part à 8 h 15.", "Le car part à 9 h."),
        ("The pass is valid until 3 May.", "The pass is valid until 9 May."),
        ("The crew has 9 members.", "The crew has 12 members after the merger."),
        ("Ida works at Volt.", "Ida changed jobs: she works at Ampere now."),
        ("The pump is offline.", "The pump got a new fuse. It is online now."),
        ("Der Leiter der Wache ist Herr Ott.", "Die Leiterin der Wache ist Frau Imm."),
        ("Der Stromausfall dauerte 12 Minuten.", "Korrektur: Der Stromausfall dauerte 21 Minuten, nicht 12."),
        ("The talk is on Friday.", "The talk on Friday was cancelled."),
        ("My favourite trail is the ridge path above Salo.", "My favourite trail is the lane along the canal."),
        ("Our baker is Otto Imm.", "Our baker is Pia Lund, and she delivers on foot."),
        ("Unser Bäcker ist Otto Imm.", "Unser Bäcker ist Pia Lund, Hofgasse 3."),
        ("Ansprechpartner beim Verein ist Herr Ott.", "Ansprechpartnerin beim Verein ist Frau Imm."),
        ("Ida streams music on Volt.", "Ida switched from Volt to Ampere."),
        ("The relay ships its events with Volt.", "The relay no longer uses Volt."),
        ("The relay listens on port 7001.", "The relay moved to port 7002."),
        ("The mill is called Ashby.", "The council renamed the mill from Ashby to Elmby."),
        ("The boat to Salo leaves at 7:30.", "The boat to Salo has been rescheduled from 7:30 to 9:15."),
        ("The head of the watch is Odo.", "Odo was replaced as head of the watch by Pell."),
        ("The sword belongs to Odo.", "After the duel, the sword no longer belongs to Odo but to Pell."),
        ("relay-2 runs on version 4.9.", "Since the rebuild, relay-2 runs on version 5.2 instead of 4.9."),
        ("The user reads books in size 11.", "The user reads books in size 14."),
        ("Ida's go-to snack is a pear with salt.", "Ida's go-to snack is a plum with sugar."),
        ("Die Gilde nutzt Volt zur Post.", "Die Gilde nutzt statt Volt inzwischen Ampere zur Post."),
        ("The agent should address the user as Dr. Imm.", "The agent should address the user as Pia."),
        ("Ida likes stickers in reports.", "Ida no longer wants stickers in reports."),
        ("The bell of the mill squeaks.", "The bell of the mill no longer squeaks."),
        ("The ward treats 40 patients.", "The ward treats 55 patients."),
        ("The refund was 821 euros.", "Correction: the refund was 812 euros and not 821."),
    ],
)
def test_a_wording_is_understood_and_what_it_ends_is_found_by_its_slots(old: str, new: str) -> None:
    assert verdict(old, new) in SUPERSEDED
    said = read(new)
    ended = {slot for subjects, kinds in withdrawing(withdrawals(new, said)) for slot in product(subjects, kinds)}
    assert not {*wanted(said), *ended}.isdisjoint(slots_of(read(old)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The talk on Friday is in hall B.", "The talk on Friday was cancelled."),
        ("My cousin is Odo.", "My cousin is Pell."),
        ("Kite is linked to the Quarry campaign.", "Kite is linked to the Meadow campaign."),
        ("The user wants a weekly summary.", "The user wants answers in Danish from now on."),
        ("Ida owns a kiln.", "Ida now owns a loom."),
        ("Ida has a red scarf.", "Ida has a blue scarf."),
        ("Ida likes hot soup.", "Ida likes cold soup."),
        ("The mill opens at nine on Mondays.", "The mill opens at ten on Sundays."),
        ("The talk is on Thursday.", "The talk on Friday was cancelled."),
        ("Ida has a new tablet.", "Ida gave the old tablet to Odo."),
        ("Ida met Odo.", "Ida met Odo. She lives in Turku."),
        ("Odo lives in Pori.", "Ida married Odo. He lives in Turku."),
        ("The gate is shut.", "The gate is closed."),
        ("The mower works fine.", "The mower has been repaired."),
        ("The shop opens at 9:00.", "The shop opens at 9 am."),
        ("Hay dos gatos en la granja.", "Hay 2 gatos en la granja."),
        ("Ida quiere mudarse a Lugo.", "Ida quiere mudarse a Vigo."),
        ("Ida sold the cart for 300 euros.", "Ida sold the cart for 400 euros."),
        ("The crew has 9 members in Turku.", "The crew has 12 members in Pori."),
        ("The contact is Odo for invoices.", "The contact is Pell for deliveries."),
        ("My favourite inn is Rot in Turku.", "My favourite inn is Blau in Pori."),
        ("Ida swims on Wednesdays.", "Ida swims on Saturdays."),
        ("Zur Gruppe der Wächter gehört Odo.", "Zur Gruppe der Wächter gehört Pell."),
        ("Ida belongs to the chess club.", "Ida belongs to the rowing club."),
        ("Ida owns a rabbit.", "Correction: Ida owns a beagle, not a poodle."),
        ("In book one Ida is 17 years old.", "In book two Ida is 19 years old."),
        ("Ida has a shop on Volt.", "Ida switched from Volt to Ampere."),
        ("Ida teaches a course on Volt.", "Ida switched from Volt to Ampere."),
        ("Ida works in Turku.", "Ida moved from Turku to Pori."),
        ("The serial number of the kiln ends in 4417.", "The serial number of the kiln ends in 4471."),
        ("relay-2 runs on three nodes.", "relay-2 runs on version 5.2 instead of 4.9."),
        ("Nach Pori fahren wir mit dem Auto.", "Wir fahren mit dem Zug nach Turku, nicht mit dem Auto."),
        ("Ida likes the sauna of the inn.", "Ida no longer wants stickers in reports."),
    ],
)
def test_near_misses_of_these_stay(old: str, new: str) -> None:
    assert verdict(old, new) not in SUPERSEDED


def test_who_dislikes_what_was_liked_contradicts() -> None:
    assert verdict("Ida likes fennel.", "Ida dislikes fennel.") is Verdict.CONFLICT


def test_numbers_that_are_left_out_of_what_is_read_make_no_duplicate() -> None:
    assert verdict("Sold the cart for 300 euros.", "Sold the cart for 400 euros.") is Verdict.STAYS
    assert verdict("Sold the cart for 300 euros.", "I sold the cart for 300 euros.") is not Verdict.STAYS


@pytest.mark.parametrize(
    ("language", "form", "infinitive", "told"),
    [
        ("es", "patrullamos", "patrullar", False),
        ("es", "resistieron", "resistir", True),
        ("fr", "remplissent", "remplir", False),
        ("fr", "jardinait", "jardiner", True),
        ("fr", "veut", "vouloir", False),
        ("fr", "presentera", "presenter", False),
        ("fr", "deployait", "deployer", True),
        ("fr", "appelle", "appeler", False),
        ("fr", "aboutissent", "aboutir", False),
        ("fr", "descendait", "descendre", True),
        ("fr", "parvient", "parvenir", False),
        ("es", "recuerda", "recordar", False),
        ("es", "sirvieron", "servir", True),
        ("es", "reconozco", "reconocer", False),
        ("es", "protejo", "proteger", False),
        ("es", "contribuye", "contribuir", False),
        ("es", "redujeron", "reducir", True),
        ("es", "mantuvo", "mantener", True),
        ("de", "zeichnet", "zeichnen", False),
        ("de", "sammelte", "sammeln", True),
        ("de", "verschob", "verschieben", True),
        ("de", "aufgebaut", "aufbauen", True),
        ("de", "konfiguriert", "konfigurieren", False),
    ],
)
def test_regular_verbs_are_given_by_their_infinitives(language: str, form: str, infinitive: str, told: bool) -> None:
    assert lexicon(language).verbs[form] == (infinitive, told)


@pytest.mark.parametrize(
    "text",
    ["Nadia présentera le rapport lundi.", "Nadia presentará el informe el lunes.", "Nadia wird den Bericht zeigen."],
)
def test_what_will_be_is_no_fact(text: str) -> None:
    assert [statement.real for statement in read(text)] == [False]


@pytest.mark.parametrize(
    ("text", "subject", "verb"),
    [
        ("Das nächste Treffen findet im Atelier statt.", {"nachste", "treffen"}, "stattfinden"),
        ("Tilda räumt den Keller auf.", {"tilda"}, "aufraumen"),
        ("La próxima visita empieza a las 9.", {"proxima", "visita"}, "empezar"),
        ("La cuenta activa tiene 300 euros.", {"cuenta", "activa"}, "tener"),
        ("Berta visita el museo.", {"berta"}, "visitar"),
        ("Le commis range les outils.", {"commis"}, "ranger"),
    ],
)
def test_a_form_that_may_be_a_noun_is_no_verb_before_one(text: str, subject: set[str], verb: str) -> None:
    (statement,) = read(text)
    assert statement.subject == subject
    assert statement.verb == verb


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Default step of lane 41 is rinse.", "Default step of lane 14 is dry."),
        ("Alert level of kiln 2271: red.", "Alert level of kiln 2217: amber."),
        ("Vole Crew used Volt in the 2021 raid on a mill.", "Vole Crew has stopped using Volt."),
        ("Ida shares a loom with Anselm.", "As of March, Ida reports to Wen rather than to Anselm."),
        ("Ida isst ihr Müsli mit Kokosmilch.", "Ida trinkt ihren Kaffee nicht mehr mit Kokosmilch."),
        ("Nach Pori fahren wir mit dem Boot.", "Unsere Nachbarn fahren statt nach Pori nach Turku."),
        ("Oma wohnt in Husum.", "Omas Schwester Berta wohnt nicht mehr in Husum."),
        ("Opa nimmt seine Tropfen mittags.", "Ausnahmsweise nimmt Opa seine Tropfen diesmal abends statt mittags."),
    ],
)
def test_another_number_person_or_occasion_ends_nothing(old: str, new: str) -> None:
    assert verdict(old, new) not in SUPERSEDED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The gate of dock 41 is open.", "The gate of dock 41 is closed."),
        ("El horno pierde gas.", "Corrijo: el horno no pierde gas."),
    ],
)
def test_what_is_said_of_the_same_number_or_corrected_in_so_many_words_is_superseded(old: str, new: str) -> None:
    assert verdict(old, new) in SUPERSEDED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The trip to Pori takes place in July.", "The trip to Pori has been cancelled."),
        ("relay-2 serves the shop.", "relay-2 has been decommissioned."),
        ("relay-2 serves the shop.", "relay-2 was taken offline on Friday."),
        ("Host db-3 runs Postgres 13.", "Host db-3 runs Postgres 16."),
        ("Le casque de Zoé est un Volt.", "Le casque de Zoé est un Ampere."),
    ],
)
def test_what_has_been_taken_away_or_renewed_ends(old: str, new: str) -> None:
    assert verdict(old, new) in SUPERSEDED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The stand-up is at 9:30.", "The stand-up was cancelled today."),
        ("relay-2 was installed in 2017.", "relay-2 has been decommissioned."),
        ("Tool Volt supports Postgres 13.", "Tool Volt supports Postgres 16."),
    ],
)
def test_one_day_s_absence_and_what_happened_once_end_nothing(old: str, new: str) -> None:
    assert verdict(old, new) not in SUPERSEDED
