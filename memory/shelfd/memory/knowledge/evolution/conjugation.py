"""The forms of German, Spanish and French verbs by rule. Words are folded, as texts are to be read."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple


class VerbForms(NamedTuple):
    """What a verb is written like."""

    infinitive: str
    present: tuple[str, ...]
    told: tuple[str, ...]  #: in past tenses, and the past participle
    future: tuple[str, ...] = ()


def conjugate(infinitives: str, language: str) -> Iterator[VerbForms]:
    """Yield the forms of each of the *infinitives*, which blanks part.

    A German prefix that stands apart is parted by a hyphen: "auf-bauen". What becomes of a Spanish verb's vowel where
    that is stressed stands behind a colon: "pensar:ie".

    Raises:
        KeyError: Of a language that has no rules here, or of what does not end as its infinitives do.
    """
    if not infinitives:
        return
    rule = _RULES[language]
    for infinitive in infinitives.split():
        yield from rule(infinitive)


def listed(rows: str) -> Iterator[VerbForms]:
    """Yield the forms of verbs that follow no rule, a row for each: "hacer hace hago / hizo hecho / hara".

    Prefixes of others that are made alike stand before the infinitive: "des,re+hacer".
    """
    for row in rows.split("|") if rows else ():
        tenses = [part.split() for part in row.split(" / ")]
        present, told, future = (*tenses, [], [])[:3]
        prefixes, _, infinitive = present[0].rpartition("+")
        for prefix in ("", *prefixes.split(",")) if prefixes else ("",):
            of_present = tuple(prefix + form for form in present[1:])
            of_told = tuple(prefix + form for form in told)
            yield VerbForms(prefix + infinitive, of_present, of_told, tuple(prefix + form for form in future))


def plain_third(verb: str) -> str:
    """Return the third person of an infinitive of the commonest endings, of others the verb itself."""
    if verb.endswith(("ar", "er")):
        return verb[:-1]
    if verb.endswith(("en", "rn", "ln")) and "-" not in verb:
        stem = verb.removesuffix("n").removesuffix("e")
        return f"{stem}{_german_link(stem)}t"
    return verb


def _german(infinitive: str) -> Iterator[VerbForms]:
    particle, _, verb = infinitive.rpartition("-")
    stem = verb[:-2] if verb[-2:] == "en" else verb[:-1]
    link = _german_link(stem)
    first = f"{stem[:-2]}l" if stem[-2:] == "el" else stem
    present, told = (f"{first}e", f"{stem}{link}t"), (f"{stem}{link}te", f"{stem}{link}ten")
    is_bare = verb.endswith("ieren") or verb.startswith(_INSEPARABLE)
    participle = f"{'' if is_bare else 'ge'}{stem}{link}t"
    yield VerbForms(verb, present, told if particle else (*told, participle))
    if particle:
        apart = (particle + present[1], particle + told[0], particle + told[1], particle + participle)
        yield VerbForms(particle + verb, apart[:1], apart[1:])


def _german_link(stem: str) -> str:
    """Return what stands between the stem of a German verb and its ending: "arbeitet", "zeichnet"; "" mostly."""
    is_hard = stem[-1] in "dt" or (stem[-1] in "mn" and (stem[-2] not in "aeioulrhmn" or stem[-3:-1] == "ch"))
    return "e" if is_hard else ""


def _spanish(marked: str) -> Iterator[VerbForms]:
    infinitive, _, change = marked.partition(":")
    stem, end = infinitive[:-2], infinitive[-2:]
    strong, weak = stem, stem
    if change:
        at = max(stem.rfind("e" if change != "ue" else "o"), stem.rfind("u") if change == "ue" else -1)
        strong = f"{stem[:at]}{change}{stem[at + 1 :]}"
        if end == "ir":  # "pidio", "durmio"
            weak = f"{stem[:at]}{'u' if change == 'ue' else 'i'}{stem[at + 1 :]}"
    future = tuple(infinitive + tail for tail in ("a", "an", "e"))
    if end == "ar":
        present: tuple[str, ...] = (f"{strong}a", f"{strong}an", f"{stem}amos")
        # "pinto" is "I paint" and, with an accent, "painted": what is told of others changes nothing.
        told = tuple(stem + tail for tail in ("o", "aba", "aban", "aron", "ado", "ada"))
        yield VerbForms(infinitive, present, (*told, f"{strong}o"), future)
        return
    if end not in ("er", "ir"):
        raise KeyError(infinitive)
    tell = ("io", "ieron")
    if end == "ir" and stem[-1] == "u" and stem[-2:-1] not in ("g", "q"):
        strong, tell = f"{stem}y", ("yo", "yeron")
    elif end == "er" and stem[-1] in "aeo":
        tell = ("yo", "yeron")
    first = f"{_spoken_stem(strong)}o"
    present = (f"{strong}e", f"{strong}en", first, f"{stem}{end[0]}mos")
    told = (*(weak + tail for tail in tell), *(stem + tail for tail in ("ia", "ian", "ido", "ida")))
    if stem[-3:] == "duc":
        told = (*told, f"{stem[:-1]}jo", f"{stem[:-1]}jeron")
    yield VerbForms(infinitive, present, told, future)


def _spoken_stem(stem: str) -> str:
    """Return what "-o" follows: "protejo", "distingo", "venzo", "conozco"."""
    if stem[-1] == "g":
        return f"{stem[:-1]}j"
    if stem[-2:] == "gu":
        return stem[:-1]
    if stem[-1] == "c":
        return f"{stem[:-1]}{'zc' if stem[-2] in 'aeiou' else 'z'}"
    return stem


def _french(infinitive: str) -> Iterator[VerbForms]:
    stem, end = infinitive[:-2], infinitive[-2:]
    if end == "er":
        softened = f"{stem}e" if stem[-1] == "g" else stem
        strong = [stem]
        if stem[-1] == "y":
            strong = [f"{stem[:-1]}i", stem] if stem[-2] == "a" else [f"{stem[:-1]}i"]
        elif stem[-2:] in ("el", "et"):
            strong.append(stem + stem[-1])
        present: tuple[str, ...] = (*(each + tail for each in strong for tail in ("e", "ent")), f"{softened}ons")
        told: tuple[str, ...] = (f"{softened}ait", f"{softened}aient")
        futures = [f"{each}er" for each in strong]
    elif end == "ir":
        present = tuple(stem + tail for tail in ("it", "is", "issent", "issons"))
        told = tuple(stem + tail for tail in ("issait", "issaient", "i", "ie"))
        futures = [infinitive]
    elif end == "re":
        third = stem if stem[-1] in "dt" else f"{stem}t"
        present = (third, *(stem + tail for tail in ("s", "ent", "ons")))
        told, futures = tuple(stem + tail for tail in ("ait", "aient", "u", "ue")), [infinitive[:-1]]
    else:
        raise KeyError(infinitive)
    future = tuple(each + tail for each in futures for tail in ("a", "ont", "ai"))
    yield VerbForms(infinitive, present, told, future)


_RULES: Final[dict[str, Callable[[str], Iterator[VerbForms]]]] = {"de": _german, "es": _spanish, "fr": _french}
#: What a German verb begins with that has no "ge-" in its participle.
_INSEPARABLE: Final = ("be", "emp", "ent", "er", "ge", "miss", "ver", "zer", "uber", "unter", "wider", "hinter")
