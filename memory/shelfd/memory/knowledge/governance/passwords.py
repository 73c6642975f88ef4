"""Passwords and keys without a shape of their own: assigned to a name, said in a sentence, or given to a command."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log2
from typing import Final

from shelfd.memory.knowledge.governance.rule import Finder, TextRule

#: Shorter words are no credentials, unless they stand after one of the names below.
SHORTEST: Final = 16
_SHORTEST_PASSWORD: Final = 8
_LEAST_BITS: Final = 3.0  #: a character of a random string has more than this
_LEAST_DIGITS: Final = 0.15  #: share of digits in one of letters and digits

#: Names of what lets somebody in, as whole words; in some languages there are no blanks around them.
_WORDS: Final = (
    "password passwd passphrase passcode pwd pw pass psk kennwort passwort contraseña senha wachtwoord passe clave"
    " secret token key credential credentials apikey api_key api-key access_key access-key private_key private-key"
    " privatekey presharedkey account_key account-key accountkey"
).split()
UNSPACED: Final = ("密码", "密碼", "口令", "パスワード", "비밀번호")
#: Commands that are given one.
_COMMANDS: Final = "curl wget mysql mysqldump mariadb sshpass docker podman redis-cli".split()
#: Words in UTF-8 that a text has, if it has none of the parts and signs that :func:`announces` looks for.
ASSIGNING: Final = frozenset(name.encode() for name in (*_WORDS, *_COMMANDS))
#: Parts of longer words, such as "WLAN-Passwort", and signs before what is assigned or begins a URL.
_ANNOUNCING: Final = ("=", "://", "-----BEGIN ", "assw", "ASSW", "ennwort", "achtwoord", "chlüssel")
#: Parts of names before a colon.
_BEFORE_COLON: Final = ("pass", "pwd", "pw", "psk", "key", "token", "secret", "credential", "senha", "ontrase", "wifi:")

#: What a password is called, in small letters.
_CALLED: Final = (
    r"pass(?:word|wd|wort|phrase|code)|pwd|kennwort|contraseña|senha|wachtwoord|mot de passe"
    r"|密[码碼]|口令|パスワード|비밀번호"
)
#: Names to which credentials are assigned, by their first letters: each place of a long text is asked for all of them.
_NAME: Final = (
    rf"{_CALLED}|secret|token|credential|p(?:rivate[ _-]?key|resharedkey)|a(?:pi|cc(?:ess|ount))[ _-]?key"
    r"|(?<![^\W\d_])(?:pass|pw|psk|_auth)(?![^\W\d_])|(?<=[?&])(?:key|sig|auth)(?==)|amz-signature(?==)"
)
#: With what a name begins, in small letters: a long text is searched for these, which takes a tenth of the time.
_BEGINS: Final = (
    *("pass", "pwd", "pw", "psk", "kennwort", "contraseña", "senha", "wachtwoord", "mot de passe", "密", "口令"),
    *("パスワード", "비밀번호", "secret", "token", "credential", "private", "preshared", "api", "access", "account"),
    *("_auth", "key=", "sig=", "auth=", "amz-signature"),
)
_BLANK: Final = "[ \t\u00a0\u202f]"
#: A name, what is left of the word and closes around it, and in some formats "value" as the next name.
_ASSIGNED: Final = (
    rf"(?i)(?:{_NAME})[\w-]{{0,20}}[\\\"'`*\])]{{0,4}}(?:[ \t]\([^()\n]{{1,40}}\))?"
    rf"(?:[,\s]{{1,20}}[\"']?value[\"']?)?{_BLANK}{{0,3}}(?::=|[=-]>|={{1,3}}|[:>|\t：＝])"
    rf"{_BLANK}{{0,3}}(?:\r?\n[ \t]{{0,12}})?[\\\"'`*„“«]{{0,3}}{_BLANK}?([^\s\"'`,;“”»，。；、]{{6,200}})"
)
_OF_PASSWORD: Final = re.compile(rf"(?i)(?:{_CALLED}|[_.-]pass)\d?(?![\w-])")
#: What goes on after the part of a long value by which it is known.
_REST: Final = re.compile(r"[^\s\"'`,;]{1,8000}")
#: Where a value ends that goes on: at the next of a query's, and at the end of an element.
_NEXT: Final = re.compile(r"&(?:amp;)?[\w.%\[\]-]{1,40}=|</|\\[nrt]")
_SPLIT_AT: Final = 200
#: What stands for a credential in examples, and what is no value but says where one is.
_STANDS_FOR: Final = re.compile(
    r"(?i)[$<{%*\[.]|x{3,}|your|example|password$|passwd$|pass$|secret$|changeme|redacted|dummy"
)
_POINTS_TO_IT: Final = re.compile(r"[a-z][a-z+.-]{1,15}://|[a-z_]{3,}[\w.]*\(")
_SIGN: Final = re.compile(r"[^\w./:-]")
_DIGIT: Final = re.compile(r"\d")
#: What ends the sentence and not the password; "!" and "?" end passwords as well.
_AFTER: Final = ".,;:)]}>*\\"

#: What it is the password of: "of the router", "des Routers", "du routeur".
_OF: Final = (
    "of|for|to|on|at|in|from|von|für|vom|zum|zur|des|der|im|am|beim|de|del|do|da|dos|das|para|pour|du|au|van|voor|op"
)
_NOW: Final = "now|still|currently|again|jetzt|nun|aktuell|ahora|agora|maintenant|désormais|nu"
#: That it became another one, before the words that say which.
_CHANGED: Final = (
    r"(?:(?:has been|have been|was|is|got) )?(?:changed|set|reset)(?: to|[,;]? (?:and|it) is)"
    r"|wurde (?:in|auf|zu)|wurde geändert[,;]? (?:es|und) (?:ist|lautet)|a été changé (?:en|pour)|a été changé, c'est"
    r"|(?:se )?cambió a|se cambió[,;] (?:ahora )?es|foi (?:alterada|mudada|trocada) para|mudou para"
    r"|is (?:gewijzigd|veranderd) in"
)
_IS: Final = (
    rf"(?:{_CHANGED}|(?:(?:{_NOW}) )?(?:is|was|ist|war|lautet|heißt|es|era|est|é|luidt|changes to|will be))"
    rf"(?: (?:{_NOW}))?"
)
_SAID: Final = (
    rf"(?i)(?:({_CALLED}|\bpw)|(?:api|access|secret|wi-?fi|network|license)[ -]key|(?:access|api|auth) token"
    r"|(?:wlan|wi-?fi|netzwerk|api)[ -]?schlüssel|\bclave)"
    rf"(?: (?:(?:{_OF}) |d[’'])[^\n.;:!?=]{{1,60}}?)?"
    rf"(?:{_BLANK}{{1,2}}(?:{_IS})[ \t:]{{1,3}}|{_BLANK}?:{_BLANK}{{1,3}})"
    rf"(?:[\"'`„“«]{_BLANK}?)?([^\s\"'`“”»]{{6,200}})"
)
#: In languages without blanks before what is said, that has none of their letters.
_SAID_UNSPACED: Final = (
    r"((?:密[码碼]|口令)(?:现在|現在)?(?:是|为|為|改为|改為|改成了?|设为)?|パスワード(?:は|が)|비밀번호(?:는|가))"
    r"[ \t:：]{0,3}[\"'`“”「『]?([!#-&(-~]{6,200})"
)
#: With what such a sentence begins, in small letters.
_SAYING: Final = (
    *("passw", "passphrase", "passcode", "kennwort", "contraseña", "senha", "wachtwoord", "mot de passe", "pwd", "pw "),
    *("api key", "api-key", "access key", "access-key", "secret key", "secret-key"),
    *("wifi key", "wi-fi key", "network key", "license key", "wifi-key", "wi-fi-key", "network-key", "license-key"),
    *("access token", "api token", "auth token", "clave"),
    *("wlan-schlüssel", "wlan schlüssel", "wlanschlüssel", "netzwerkschlüssel", "wifi-schlüssel", "api-schlüssel"),
)
#: What is given to a command: ``curl -u ana:…``, ``mysql -p…``.
_GIVEN: Final = (
    r"\b(?:(?:curl|wget)\b[^\n|;]{0,120}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:"
    r"|sshpass\s{1,3}-p\s?[\"']?|(?:mysql|mysqldump|mariadb)\b[^\n|;]{0,120}?\s(?:-p|--password=)[\"']?"
    r"|(?:docker|podman)\s{1,3}login\b[^\n|;]{0,120}?\s-p[ =]?[\"']?|redis-cli\b[^\n|;]{0,120}?\s-a\s[\"']?)"
    r"([^\s\"'`]{4,200})"
)
#: What follows the name of an option, or the word in a ``.netrc``, after a blank.
_AFTER_BLANK: Final = (
    r"(?i)(?:(?<!\S)--[\w-]{0,20}?(?:password|passwd|passphrase|secret|token|api-?key|access-?key)[\w-]{0,20}"
    r"|\b(?:login|user|username)\s{1,4}[^\s,]{1,64}(?:\s{1,4}account\s{1,4}\S{1,64})?\s{1,4}password)"
    r"\s{1,4}[\"'`]?([^\s\"'`,;]{6,200})"
)
#: What a picture says of a network for phones to read.
_NETWORK: Final = r"\bWIFI:[^\n]{0,120}?\bP:([^;\n]{4,200})"
#: A password of letters and digits; what is not one but how one is kept, or how long it is or lasts.
_PLAIN: Final = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{6,64}")
_KEPT_AS: Final = re.compile(
    r"(?i)(?:(?:sha|md|utf|base|argon|b?s?crypt|pbkdf|aes|rsa|oauth|totp|iso|rfc|nist|fips|wpa|tls|hs|v)\d+[a-z]{0,4}"
    r"|\d{1,3}[a-z]{3,})(?:[-/][a-z0-9]+)*"
)
_LEAST_SAID_DIGITS: Final = 2


def announces(text: str) -> bool:
    """Return whether *text* has a sign or a part of a word that may announce a secret, beside :data:`ASSIGNING`."""
    for part in _ANNOUNCING:  # any() of a generator takes ten times as long
        if part in text:
            return True
    if ":" in text:
        lowered = text.lower()
        for part in _BEFORE_COLON:
            if part in lowered:
                return True
    return not text.isascii() and any(name in text for name in UNSPACED)


def _places(text: str, beginnings: Iterable[str]) -> list[int]:
    """Where one of some words in small letters begins in *text*."""
    # The one letter that is two in small letters would move what comes after it.
    lowered, places = text.replace("\u0130", "I").lower(), set[int]()
    for beginning in beginnings:
        at = lowered.find(beginning)
        while at >= 0:
            places.add(at)
            at = lowered.find(beginning, at + 1)
    return sorted(places)


class _AssignedSecret(TextRule):
    """Random strings that are assigned to one of the names."""

    __slots__ = ()

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found in *text*."""
        at = 0
        for place in _places(text, _BEGINS):
            match = None if place < at else self.pattern.match(text, place)
            if match is None:
                continue
            found = _value(match[1])
            if _DIGIT.search(found) is None or _POINTS_TO_IT.match(found):
                continue  # but what follows may be a name with one: "token: password=…"
            begin = match.start(1)
            if self.is_meant(found) or (is_plain(found) and _OF_PASSWORD.search(text, max(0, place - 1), begin)):
                at = begin + len(found)
                if len(found) == _SPLIT_AT and (rest := _REST.match(text, at)):
                    at, found = rest.end(), found + rest[0]
                yield found


class _SaidSecret(TextRule):
    """Random strings that a sentence says a password is; its hints are in small letters."""

    __slots__ = ()

    def may_find(self, text: str) -> bool:
        """Return whether there may be something to be found in *text* or a part of it."""
        return TextRule.may_find(self, text.lower())

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found in *text*."""
        for place in _places(text, self.hints):
            if (match := self.pattern.match(text, place)) is None:
                continue
            found = match[2].rstrip(_AFTER)
            if self.is_meant(found) or (match[1] is not None and is_plain(found)):
                yield found


def _value(text: str) -> str:
    """What is assigned, without what follows it where a query, an element or a sentence goes on."""
    end = _NEXT.search(text)
    return (text if end is None else text[: end.start()]).rstrip(_AFTER)


def is_random(text: str) -> bool:
    """Return whether *text* looks as if a machine had drawn it, or a person had made it hard to guess."""
    if _STANDS_FOR.match(text):
        return False
    digits = len(_DIGIT.findall(text))
    kinds = text != text.upper(), text != text.lower(), digits > 0, _SIGN.search(text) is not None
    if not digits or not (kinds[0] or kinds[1]):
        return False
    if sum(kinds) >= 3 and len(text) >= _SHORTEST_PASSWORD:
        return True
    return len(text) >= SHORTEST and digits >= _LEAST_DIGITS * len(text) and _bits(text) >= _LEAST_BITS


def _bits(text: str) -> float:
    """Bits of information of a character, by how often each occurs."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in Counter(text).values())


def is_plain(text: str) -> bool:
    """Return whether *text* is a password of letters and digits alone."""
    return _PLAIN.fullmatch(text) is not None and not _STANDS_FOR.match(text) and not _KEPT_AS.fullmatch(text)


def is_given(password: str) -> bool:
    """Return whether what stands where a password does is one, and nothing that stands for it in an example."""
    return not _STANDS_FOR.match(password)


def _is_said(text: str) -> bool:
    """Whether what a sentence says is a password, and no word with a number in it, such as "OAuth2-based"."""
    return is_random(text) and len(_DIGIT.findall(text)) >= _LEAST_SAID_DIGITS and not _KEPT_AS.fullmatch(text)


def _is_meant_after_blank(text: str) -> bool:
    return is_plain(text) or is_random(text)


def password_rules() -> Sequence[Finder]:
    """Return the rules of what is assigned, said and given; to compile them takes some milliseconds."""
    return [
        TextRule("command_password", tuple(_COMMANDS), re.compile(_GIVEN), is_given, group=1),
        TextRule("command_password", ("password", "--"), re.compile(_AFTER_BLANK), _is_meant_after_blank, group=1),
        TextRule("network_password", ("WIFI:",), re.compile(_NETWORK), is_given, group=1),
        _AssignedSecret("assigned_secret", ("=", ":", ">", "|", "\t", "：", "＝"), re.compile(_ASSIGNED), is_random),
        _SaidSecret("said_secret", (*_SAYING, *UNSPACED), re.compile(_SAID), _is_said),
        _SaidSecret("said_secret", UNSPACED, re.compile(_SAID_UNSPACED), _is_said),
    ]
