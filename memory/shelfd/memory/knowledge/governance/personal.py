"""Personal data in text that can be told by its form: addresses of e-mail, phone numbers, accounts and cards."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from shelfd.memory.knowledge.governance.rule import Finder, TextRule

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_IBAN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_CARD: Final = re.compile(r"(?<![0-9])(?<![0-9][ -])[3-6](?:[ -]?[0-9]){12,18}(?![0-9])")
#: An account number has so many signs: the shortest is Norway's.
_SHORTEST_IBAN: Final = 15
_FEWEST_DIGITS: Final = 7
_DIGIT: Final = re.compile(r"\d")
#: What a phone number may be made of, with what stands before it; the library looks at nothing else.
_NUMBERS: Final = re.compile(r"(?<![\w+])\+?[(\d][\d\s()./-]{5,40}\d")


def _is_iban(text: str) -> bool:
    """Return whether the check digits are right (ISO 13616, modulo 97)."""
    signs = text.replace(" ", "")
    if len(signs) < _SHORTEST_IBAN:
        return False
    number = "".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4])
    return int(number) % 97 == 1


def _is_card(text: str) -> bool:
    """Return whether the last digit is right (ISO/IEC 7812, Luhn)."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


class _Iban(TextRule):
    """Accounts; where words in capitals follow, as many groups as make a right one."""

    __slots__ = ()

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found in *text*."""
        for match in self.pattern.finditer(text):
            found = match[0]
            while not self.is_meant(found) and " " in found:
                found = found.rpartition(" ")[0]
            if self.is_meant(found):
                yield found


class _Phone:
    """Numbers that a country's plan has: with a country code, or as they are dialled in one region."""

    def __init__(self, region: str | None) -> None:
        self.name = "phone"
        self._region = region

    def may_find(self, text: str) -> bool:  # noqa: ARG002
        """Return True: to look for it is what tells."""
        return True

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found in *text*."""
        from phonenumbers import PhoneNumberMatcher  # lazily: takes long to import, and is an extra

        for match in _NUMBERS.finditer(text):
            if len(_DIGIT.findall(match[0])) >= _FEWEST_DIGITS:
                yield from (found.raw_string for found in PhoneNumberMatcher(match[0], self._region))


def personal_rules(kinds: tuple[str, ...], phone_region: str) -> Sequence[Finder]:
    """Return the rules of these *kinds*.

    Args:
        kinds: Names of rules.
        phone_region: Country, as two letters, whose numbers need no country code; empty: none.
    """
    rules: Mapping[str, Finder] = {
        "email": TextRule("email", ("@",), _EMAIL),
        "phone": _Phone(phone_region or None),
        "iban": _Iban("iban", (), _IBAN, _is_iban),
        "payment_card": TextRule("payment_card", (), _CARD, _is_card),
    }
    return [rules[kind] for kind in kinds]
