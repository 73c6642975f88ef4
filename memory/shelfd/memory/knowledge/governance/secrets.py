"""Credentials in text: keys of known shapes, and random strings that are assigned to a name such as ``api_key``."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log2
from typing import Final

from shelfd.memory.knowledge.governance.rule import Finder, TextRule, anything

#: Shorter words are no credentials, unless they stand after one of the names below.
SHORTEST: Final = 16
_SHORTEST_PASSWORD: Final = 8
_LEAST_BITS: Final = 3.0  #: a character of a random string has more than this
_LEAST_DIGITS: Final = 0.15  #: share of digits in one of letters and digits

#: Names to which credentials are assigned.
_NAMES: Final = (
    "api_key api-key apikey access_key access-key private_key private-key privatekey presharedkey secret token"
    " password passwd passphrase pwd account_key account-key accountkey credential credentials kennwort passwort"
    " contraseña senha wachtwoord"
).split()
#: What a sentence calls a password.
_SPOKEN: Final = "password passphrase passcode passwort kennwort contraseña senha wachtwoord passe key token".split()
#: Commands that are given one.
_COMMANDS: Final = "curl wget mysql mysqldump mariadb sshpass".split()
#: All these as words in UTF-8; with an equals sign name and credential are one word, which is long enough.
ASSIGNING: Final = frozenset(name.encode() for name in (*_NAMES, *_SPOKEN, *_COMMANDS))
#: And those that stand among other signs without a blank.
UNSPACED: Final = ("密码", "パスワード", "비밀번호")
#: What stands for a credential in examples.
_STANDS_FOR: Final = re.compile(
    r"(?i)[$<{%*\[.]|x{3,}|your|example|password$|passwd$|pass$|secret$|changeme|redacted|dummy"
)

#: How tokens of services begin that have nothing else in common.
_SERVICES: Final = tuple(
    "xapp- whsec_ GOCSPX- ya29. dop_v1_ doo_v1_ shpat_ shpss_ sq0atp- sq0csp- glsa_ glc_ lin_api_ ntn_ PMAK- dp.pt."
    " hvs. AGE-SECRET-KEY-1 sntrys_ NRAK- sbp_ figd_ dckr_pat_ ATATT3x gsk_ r8_".split()
)

# Each begins where nothing of what it is made of stands before: else a long run of that would be read again and again.
_SHAPES: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "aws_access_key": (("AKIA", "ASIA"), r"(?<![0-9A-Za-z])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    "private_key": (
        ("-----BEGIN ",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,6}-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,60}-----|\Z)",
    ),
    "github_token": (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"(?<![0-9A-Za-z_])(?:gh[pousr]_[0-9A-Za-z]{36,255}|github_pat_[0-9A-Za-z_]{22,255})",
    ),
    "gitlab_token": (("glpat-",), r"(?<![0-9A-Za-z_-])glpat-[0-9A-Za-z_-]{20,255}"),
    "slack_token": (("xox",), r"(?<![0-9A-Za-z-])xox[abeoprs]-[0-9A-Za-z-]{10,255}"),
    "slack_webhook": (
        ("hooks.slack.com/services/",),
        r"hooks\.slack\.com/services/T[0-9A-Z]{6,20}/B[0-9A-Z]{6,20}/[0-9A-Za-z]{16,64}",
    ),
    "model_api_key": (("sk-",), r"(?<![0-9A-Za-z_-])sk-[0-9A-Za-z_-]{20,255}"),
    "payment_api_key": (("k_live_", "k_test_"), r"(?<![0-9A-Za-z_])[rs]k_(?:live|test)_[0-9A-Za-z]{16,255}"),
    "google_api_key": (("AIza",), r"(?<![0-9A-Za-z_-])AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    "package_token": (
        ("npm_", "pypi-", "hf_"),
        r"(?<![0-9A-Za-z_-])(?:npm_[0-9A-Za-z]{36}|pypi-[0-9A-Za-z_-]{50,255}|hf_[0-9A-Za-z]{30,255})",
    ),
    "mail_api_key": (("SG.",), r"(?<![0-9A-Za-z_.-])SG\.[0-9A-Za-z_-]{16,64}\.[0-9A-Za-z_-]{16,64}"),
    "chat_bot_token": ((":AA",), r"(?<![0-9A-Za-z_:-])[0-9]{8,10}:AA[0-9A-Za-z_-]{33}(?![0-9A-Za-z_-])"),
    "service_token": (
        _SERVICES,
        rf"(?<![0-9A-Za-z_.-])(?:{'|'.join(map(re.escape, _SERVICES))})[0-9A-Za-z_.=-]{{20,400}}",
    ),
    "hex_api_key": (("SK", "key-", "dapi"), r"(?<![0-9A-Za-z_-])(?:SK|key-|dapi)[0-9a-f]{32}(?![0-9A-Za-z_-])"),
    "chat_webhook": (("/api/webhooks/",), r"/api/webhooks/[0-9]{15,22}/[0-9A-Za-z_-]{40,100}"),
    "jwt": (
        (".eyJ",),
        r"(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_-]{8,4000}\.eyJ[0-9A-Za-z_-]{8,4000}\.[0-9A-Za-z_-]{8,1000}",
    ),
}
#: What examples have instead of a token, and what is made of words.
_NO_TOKEN: Final = re.compile(r"(?i)x{6}|your|example|placeholder")
_SIGN: Final = re.compile(r"[^\w./:-]")
_SEPARATORS: Final = re.compile(r"[-_.:/]")
_LONGEST_WORD: Final = 9
#: What is sent with requests: after the name of the header, and in a cookie.
_AUTHORIZATION: Final = re.compile(
    r"(?i)authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:bearer|basic|token)[ \t]{1,3}([0-9a-z+/_.=~-]{16,4000})"
)
_COOKIE: Final = re.compile(r"(?i)\bcookie:[^\n]{0,60}?=([0-9a-z+/_.%~-]{16,300}+)(?![^\s;\"'])")
#: Those of which a part is in use in examples, too.
_URL_PASSWORD: Final = re.compile(r"://[^\s/:@]{0,200}:([^\s/@]{1,200})@")
_ASSIGNED: Final = re.compile(r"(?::=|=>|=|:)[ \t]{0,3}[\"'`]?([^\s\"'`,;]{6,200})")
_BEFORE: Final = re.compile(rf"(?i)(?:{'|'.join(_NAMES)})[\w-]{{0,20}}[\"'\]]{{0,2}}[ \t]{{0,3}}\Z")
_LOOKED_BACK: Final = 48


#: "The password of the router is …", "Das Passwort lautet …".
_SAID: Final = re.compile(
    r"(?i)(?:\b(?:password|passphrase|passcode|passwort|kennwort|contraseña|senha|wachtwoord|mot de passe"
    r"|(?:api|access|secret)[ -]key|(?:access|api|auth) token)"
    r"(?: (?:of|for|to|on|at|in|von|für|vom|zum|de|del|para|pour|du|van|voor) [^\n.;:!?]{1,60}?)?"
    r" (?:is|was|ist|war|lautet|es|est|é|now is|is now|is still)|(?:密码|パスワード)(?:是|为|は)|비밀번호는)"
    r"[ \t:]{1,3}[\"'`„“«]?([^\s\"'`“”»]{8,200})"
)
#: Of these a text has one, if it is ASCII.
_SAYING: Final = (
    *("passw", "passphrase", "passcode", "kennwort", "senha", "wachtwoord", "mot de passe"),
    *("api key", "api-key", "access key", "access-key", "secret key", "secret-key"),
    *("access token", "api token", "auth token"),
)
#: What is given to a command: ``curl -u ana:…``, ``mysql -p…``.
_GIVEN: Final = re.compile(
    r"\b(?:(?:curl|wget)\b[^\n|;]{0,120}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:"
    r"|sshpass\s{1,3}-p\s?[\"']?|(?:mysql|mysqldump|mariadb)\b[^\n|;]{0,120}?\s(?:-p|--password=)[\"']?)"
    r"([^\s\"'`]{4,200})"
)
#: A password of letters and digits, and what is not one but how one is kept.
_PLAIN: Final = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{6,64}")
_KEPT_AS: Final = re.compile(r"(?i)(?:sha|md|utf|base|argon|b?s?crypt|pbkdf|aes|rsa|oauth|totp|v)\d+[a-z]{0,4}")
_OF_PASSWORD: Final = re.compile(
    r"(?i)(?:password|passwd|passphrase|pwd|kennwort|passwort|contraseña|senha|wachtwoord)[\"'\]]{0,2}[ \t]{0,3}\Z"
)
_LEAST_SAID_DIGITS: Final = 2


class _AssignedSecret(TextRule):
    """Random strings that are assigned to one of the names."""

    __slots__ = ()

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found in *text*."""
        for match in self.pattern.finditer(text):
            before = text[max(0, match.start() - _LOOKED_BACK) : match.start()]
            # The name first: a long text without blanks has a thousand values, and to judge one takes longer.
            if not _BEFORE.search(before):
                continue
            if self.is_meant(match[1]) or (_is_plain(match[1]) and _OF_PASSWORD.search(before)):
                yield match[1]


class _SaidSecret(TextRule):
    """Random strings that a sentence says a password is; its hints are in small letters."""

    __slots__ = ()

    def may_find(self, text: str) -> bool:
        """Return whether there may be something to be found in *text* or a part of it."""
        return not text.isascii() or TextRule.may_find(self, text.lower())

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found in *text*."""
        for match in self.pattern.finditer(text):
            found = match[1].rstrip(".,;:)")  # "!" and "?" end passwords as well
            if self.is_meant(found):
                yield found


def is_random(text: str) -> bool:
    """Return whether *text* looks as if a machine had drawn it, or a person had made it hard to guess."""
    if _STANDS_FOR.match(text):
        return False
    digits = sum(map(str.isdigit, text))
    kinds = any(map(str.islower, text)), any(map(str.isupper, text)), digits > 0, _SIGN.search(text) is not None
    if not digits or not (kinds[0] or kinds[1]):
        return False
    if sum(kinds) >= 3 and len(text) >= _SHORTEST_PASSWORD:
        return True
    return len(text) >= SHORTEST and digits >= _LEAST_DIGITS * len(text) and _bits(text) >= _LEAST_BITS


def _bits(text: str) -> float:
    """Bits of information of a character, by how often each occurs."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in Counter(text).values())


def _is_plain(text: str) -> bool:
    """Whether *text* is a password of letters and digits alone."""
    return _PLAIN.fullmatch(text) is not None and not _STANDS_FOR.match(text) and not _KEPT_AS.fullmatch(text)


def _is_said(text: str) -> bool:
    """Whether what a sentence says is a password, and no word with a number in it, such as "OAuth2-based"."""
    return is_random(text) and sum(map(str.isdigit, text)) >= _LEAST_SAID_DIGITS


def _is_given(password: str) -> bool:
    return not _STANDS_FOR.match(password)


def _is_token(text: str) -> bool:
    return _NO_TOKEN.search(text) is None and max(map(len, _SEPARATORS.split(text))) > _LONGEST_WORD


def _is_sent(text: str) -> bool:
    return _is_token(text) and any(c.isdigit() for c in text)


_IS_MEANT: Final[Mapping[str, Callable[[str], bool]]] = {"private_key": anything, "service_token": _is_sent}


def secret_rules() -> Sequence[Finder]:
    """Return the rules of known shapes, and that of assigned strings."""
    known = [
        TextRule(name, hints, re.compile(shape), _IS_MEANT.get(name, _is_token))
        for name, (hints, shape) in _SHAPES.items()
    ]
    sent = [
        TextRule("authorization", ("uthorization", "UTHORIZATION"), _AUTHORIZATION, _is_sent, group=1),
        TextRule("cookie", ("ookie:", "OOKIE:"), _COOKIE, _is_sent, group=1),
    ]
    url_password = TextRule("url_password", ("://",), _URL_PASSWORD, _is_given, group=1)
    given = TextRule("command_password", tuple(_COMMANDS), _GIVEN, _is_given, group=1)
    assigned = _AssignedSecret("assigned_secret", ("=", ":"), _ASSIGNED, is_random)
    return [*known, *sent, url_password, given, assigned, _SaidSecret("said_secret", _SAYING, _SAID, _is_said)]


def tag_rules() -> Sequence[Finder]:
    """Return the rules of known shapes for tags, which are in small letters: who sees one knows the credential."""
    return [
        in_small_letters(TextRule(name, hints, re.compile(shape), _is_sent)) for name, (hints, shape) in _SHAPES.items()
    ]


def in_small_letters(rule: TextRule) -> TextRule:
    """Return what finds the same in a text in small letters."""
    pattern = re.compile(rule.pattern.pattern, rule.pattern.flags | re.IGNORECASE)
    return rule._replace(hints=tuple(hint.lower() for hint in rule.hints), pattern=pattern)
