"""Credentials in text: keys of known shapes, and what is sent or given as one."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from shelfd.memory.knowledge.governance.passwords import is_given, is_random, password_rules
from shelfd.memory.knowledge.governance.rule import Finder, TextRule, anything

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
_SEPARATORS: Final = re.compile(r"[-_.:/]")
_LONGEST_WORD: Final = 9
#: What is sent with requests: after the name of the header, and in a cookie.
_AUTHORIZATION: Final = re.compile(
    r"(?i)(?:authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:(?:bearer|basic|token|apikey)[ \t]{1,3})?"
    r"|\bbearer[ \t:]{1,3})([0-9a-z+/_.=~-]{16,4000})"
)
_SENT_AFTER: Final = ("uthorization", "UTHORIZATION", "earer", "EARER")
_COOKIE: Final = re.compile(r"(?i)\bcookie:[^\n]{0,60}?=([0-9a-z+/_.%~-]{16,300}+)(?![^\s;\"'])")
#: Those of which a part is in use in examples, too.
_URL_PASSWORD: Final = re.compile(r"://[^\s/:@]{0,200}:([^\s/]{1,200})@")
_URL_TOKEN: Final = re.compile(r"://([^\s/:@]{8,200})@")


def _is_token(text: str) -> bool:
    return _NO_TOKEN.search(text) is None and max(map(len, _SEPARATORS.split(text))) > _LONGEST_WORD


def _is_sent(text: str) -> bool:
    return _is_token(text) and any(c.isdigit() for c in text)


def _is_drawn(text: str) -> bool:
    return _NO_TOKEN.search(text) is None and any(
        len(part) > _LONGEST_WORD and any(c.isdigit() for c in part) for part in _SEPARATORS.split(text)
    )


_IS_MEANT: Final[Mapping[str, Callable[[str], bool]]] = {"private_key": anything, "service_token": _is_sent}


def secret_rules() -> Sequence[Finder]:
    """Return the rules of known shapes, and of what the words around it tell."""
    known = [
        TextRule(name, hints, re.compile(shape), _IS_MEANT.get(name, _is_token))
        for name, (hints, shape) in _SHAPES.items()
    ]
    return [*known, *worded_rules()]


def worded_rules() -> Sequence[Finder]:
    """Return the rules of what is sent, given, assigned or said, whatever it looks like."""
    sent = [
        TextRule("authorization", _SENT_AFTER, _AUTHORIZATION, _is_sent, group=1),
        TextRule("cookie", ("ookie:", "OOKIE:"), _COOKIE, _is_sent, group=1),
    ]
    url_password = TextRule("url_password", ("://",), _URL_PASSWORD, is_given, group=1)
    url_token = TextRule("url_password", ("://",), _URL_TOKEN, is_random, group=1)
    return [*sent, url_password, url_token, *password_rules()]


def tag_rules() -> Sequence[Finder]:
    """Return the rules of known shapes for tags and names in small letters: who sees one knows the credential."""
    return [
        in_small_letters(TextRule(name, hints, re.compile(shape), _is_drawn))
        for name, (hints, shape) in _SHAPES.items()
    ]


def in_small_letters(rule: TextRule) -> TextRule:
    """Return what finds the same in a text in small letters."""
    pattern = re.compile(rule.pattern.pattern, rule.pattern.flags | re.IGNORECASE)
    return rule._replace(hints=tuple(hint.lower() for hint in rule.hints), pattern=pattern)
