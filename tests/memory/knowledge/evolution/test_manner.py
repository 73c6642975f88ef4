"""What something is like takes the place of no name, whatever the two are told with: the same noun, the same verb."""

from itertools import product
from typing import Final

import pytest

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.verdicts import Verdict

ATTRIBUTES: Final = {
    "en": """Mara's dentist is Dr Weiss|The venue of the summer party is the town hall|
        The owner of the backup job is Tom|The Wi-Fi password is bluewhale7|Ida's phone is a Fairphone 5|
        Kestrel's database is PostgreSQL 16|My landlord is Mr Okafor|The gate for Oslo is B14|
        Rosa's school is the Lindenhof|Paul's car is a Volvo V60|The C2 server is 203.0.113.7|
        The villain of the story is Lord Karsk|The hotel in Porto is the Ritz""",
    "de": """Maras Zahnarzt ist Dr. Weiss|Das WLAN-Passwort ist blauwal7|
        Die Datenbank von Kestrel ist PostgreSQL 16|Mein Vermieter ist Herr Okafor|
        Das Tor nach Oslo ist B14|Rosas Schule ist der Lindenhof|Das Hotel in Porto ist das Ritz""",
    "es": """El dentista de Mara es el doctor Weiss|La contraseña del wifi es ballena7|
        El colegio de Rosa es el Lindenhof|La base de datos de Kestrel es PostgreSQL 16|
        La puerta del vuelo a Oslo es la B14|El coche de Paul es un Volvo V60""",
    "fr": """Le dentiste de Mara est le docteur Weiss|Le mot de passe du wifi est baleine7|
        L'école de Rosa est le Lindenhof|La base de données de Kestrel est PostgreSQL 16|
        La porte du vol pour Oslo est la B14|La voiture de Paul est une Volvo V60""",
}
DESCRIPTIONS: Final = {
    "en": """very good|very kind|a secret|unknown to most|expensive|hard to remember|about to change|
        chosen by Tom|better than last year's|a mess|the same as Ida's|what she likes most|out of date|
        being discussed|too long|really reliable|worth a visit|from Norway|an old friend|a great help|
        easy to find|thirty years old|loved by everyone|the best so far|quite new|a bit of a problem|
        made of wood|for internal use only|well hidden""",
    "de": """sehr gut|sehr nett|den meisten unbekannt|teuer|schwer zu merken|besser als letztes Jahr|veraltet|
        zu lang|dasselbe wie bei Ida|wirklich zuverlässig|einen Besuch wert|aus Norwegen|leicht zu finden|
        dreißig Jahre alt|bisher am besten|ganz neu|aus Holz|nur intern gedacht|ausgebucht|umstritten|
        freundlicher als gedacht""",
    "es": """muy bueno|muy amable|desconocido para casi todos|caro|difícil de recordar|
        mejor que el del año pasado|el mismo que el de Ida|anticuado|poco importante|demasiado largo|
        fiable de verdad|digno de una visita|de Noruega|de gran ayuda|fácil de encontrar|querido por todos|
        el mejor hasta ahora|de madera|polémico|insoportable|único""",
    "fr": """très bon|très gentil|inconnu de la plupart|cher|difficile à retenir|mieux que l'an dernier|dépassé|
        trop long|vraiment fiable|digne d'une visite|de Norvège|d'une grande aide|facile à trouver|
        aimé de tous|le meilleur jusqu'ici|assez neuf|en bois|réservé à un usage interne|controversé|
        insupportable|unique|complet""",
}
IS: Final = {"en": " is ", "de": " ist ", "es": " es ", "fr": " est "}


def parts(text: str) -> list[str]:
    return [part.strip() for part in text.split("|")]


def verdict(older: str, new: str) -> Verdict:
    return decide(Told("new", new, 2), [Told("older", older, 1)])["older"].verdict


@pytest.mark.parametrize("language", ["en", "de", "es", "fr"])
def test_what_something_is_like_is_not_what_it_is(language: str) -> None:
    updated = []
    for attribute, description in product(parts(ATTRIBUTES[language]), parts(DESCRIPTIONS[language])):
        new = f"{attribute.split(IS[language])[0]}{IS[language]}{description}."
        if verdict(f"{attribute}.", new) is not Verdict.STAYS:
            updated.append(new)
    assert updated == []


@pytest.mark.parametrize(
    ("older", "new"),
    [
        ("Mara's dentist is Dr Weiss.", "Mara's dentist is Dr Kern."),
        ("Nadia's favourite dish is lasagne.", "Nadia's favourite dish is moussaka."),
        ("The project's status is stable.", "The project's status is critical."),
        ("Tom's favourite colour is dark red.", "Tom's favourite colour is Prussian blue."),
        ("Die Lieblingsfarbe des Nutzers ist Dunkelrot.", "Die Lieblingsfarbe des Nutzers ist Petrol."),
        ("La tension de Clarisse est de 14/9.", "La tension de Clarisse est de 12/8."),
    ],
)
def test_another_of_its_kind_is(older: str, new: str) -> None:
    assert verdict(older, new) is Verdict.UPDATED
