"""Identifiers in a text: addresses, hashes, paths, numbers of things. One pass over its tokens."""

import re
from collections.abc import Iterator
from functools import cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from shelfd.memory.knowledge.entities.kinds import HYPHENS, EntityMention, mention
from shelfd.memory.knowledge.entities.segment import Segment

#: What makes a token worth a closer look.
_TELLING: Final = re.compile(r"[\d@/\\]|\w\.\w|::|\[\.\]")
#: A token's part beyond this is not looked at: no identifier is as long.
_LONGEST_TOKEN: Final = 2048

_TLDS: Final = (
    "com org net edu gov mil int info biz io dev app ai cloud online site xyz top club shop tech store live news"
    " space website link click pro name mobi local lan internal onion arpa museum jobs travel host fun icu"
    " de fr uk us ca au nz ie nl be ch at it es pt se no dk fi pl cz sk hu ro bg gr tr ru ua by kz cn jp kr tw hk sg"
    " my th vn id ph in pk bd ir iq il sa ae eg za ng ke ma br ar cl co pe mx ve ec uy eu asia su me tv cc ws to la"
    " example test invalid"
)
#: Endings that are words, or the suffix of a file, just as often.
_DOUBTFUL: Final = frozenset(
    "it no at in be to me my us is so la id name app pro by link live top fun ai co test invalid".split()
)

#: What devices' names begin with.
_DEVICES: Final = (
    "sensor|pump|valve|robot|camera|cam|plc|gateway|gw|router|switch|printer|nas|motor|inverter|drone|"
    "thermostat|boiler|meter|node|host|server|srv|web|db|app|vm|esp32|esp8266|rpi|pi|raspberrypi|shelly|"
    "tasmota|zigbee|hue|ups|rack|laptop|desktop|ws|pc|dc|lamp|heater|fan|relay|conveyor|turbine|charger|"
    "lock|beacon|tag|scanner|kiosk|worker|fw|firewall|ap|hub"
)

_IDENTIFIER: Final = rf"""
    (?P<url>(?:https?|ftps?|wss?|mqtts?|ssh|sftp|amqps?|redis|postgres(?:ql)?|ldaps?)://[^\s<>"'`|{{}}]+)
  | (?P<email>(?<![\w.+-])[a-z0-9][\w.+%-]{{0,63}}
      @(?:[a-z0-9](?:[a-z0-9-]{{0,61}}[a-z0-9])?\.){{1,8}}[a-z]{{2,24}}(?![\w-]))
  | (?P<cve>(?<![\w-])cve[-_:]?\d{{4}}[-_]\d{{4,7}}(?![\d-]))
  | (?P<attack_pattern>(?<![\w.-])(?-i:T)\d{{4}}(?:\.\d{{3}})?(?![\w-]|\.\d))
  | (?P<hash>(?<![\w/])(?:[0-9a-f]{{64}}|[0-9a-f]{{40}}|[0-9a-f]{{32}})(?!\w))
  | (?P<winpath>(?<![\w])(?:[a-z]:\\(?:[^\s\\/:*?"<>|]+\\?)*
      |\\\\[\w.-]+(?:\\[^\s\\/:*?"<>|]+)+|hk(?:lm|cu|cr|u|ey_\w+)\\[\w\\.-]+))
  | (?P<path>(?<![\w/.:~+#$-])(?:~|\.{{1,2}})?/(?:[\w.+@%$-]+/)+[\w.+@%$-]*
      |(?<![\w/.:-])(?:~|\.{{1,2}})/[\w.+@%-]+
      |(?<![\w/.:+#-])/(?:etc|usr|var|home|opt|tmp|dev|proc|sys|mnt|srv|root|bin|lib|run|boot)(?![\w/]))
  | (?P<ipv6>(?<![\w:.])(?:[0-9a-f]{{0,4}}:){{2,7}}[0-9a-f]{{0,4}}(?![\w:]))
  | (?P<ipv4>(?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w]|\.\d))
  | (?P<mqtt_topic>(?<![\w/.:~-])[\w$+#-]+(?:/[\w+#-]+){{1,15}}(?![\w/]|\.\w))
  | (?P<version>(?<![\w.-])v?\d{{1,5}}(?:\.\d{{1,6}}){{1,3}}
      (?:-?(?:alpha|beta|rc|a|b|dev|post)\.?\d{{0,4}})?(?![\w%]|\.\w|-\d))
  | (?P<domain>(?<![\w@.-])(?:[a-z0-9](?:[a-z0-9-]{{0,61}}[a-z0-9])?\.){{1,8}}
      (?:{"|".join(_TLDS.split())})(?![\w-]|\.\w))
  | (?P<asset>(?<![\w./-])(?:eth|wlan|enp\d+s|tty(?:usb|acm|s)|nvme\d+n|can|sd[a-z])\d+(?:p\d+)?(?![\w-])
      |(?<![\w./-])(?:{_DEVICES})(?:[-_][a-z0-9]+){{0,4}}[-_][a-z]{{0,12}}\d{{1,6}}[a-z]?(?![\w-]))
    """
#: Numbered groups: APT28.
SET_NUMBER: Final = re.compile(
    r"(?<![\w-])(?:apt|unc|ta|fin|temp|uat|dev)(?:[ .-]|-)?\d{1,5}(?![\w.-]*\w)", re.IGNORECASE
)
#: A CVE's number with a blank before it: "CVE 2024-3094".
_CVE_NUMBER: Final = re.compile(r"(?<![\w-])cve (\d{4}[-_]\d{4,7})(?![\d-])", re.IGNORECASE)
_ONE_HYPHEN: Final = str.maketrans(dict.fromkeys(HYPHENS, "-"))
_CAMPAIGN: Final = re.compile(r"(?<!\w)(?:[Oo]peration|OPERATION)[ -]([A-Za-z][\w-]{2,40}(?: [A-Z][\w-]{2,40})?)")
#: Words before three and more numbers, or two, that say it is a version.
_VERSION_CUE: Final = re.compile(
    r"(?:version|ver\.?|release|build|firmware|kernel|python|node|node\.js|java|php|ruby|go|rust|debian|ubuntu|fedora|ios|"
    r"android|macos|windows|postgresql|postgres|mysql|sqlite|redis|django|flask|kubernetes|docker|mosquitto|openssl|"
    r"nginx|apache|chrome|firefox|assistant|openssh|linux|numpy|pandas|pytorch|ansible|terraform|git|grafana|influxdb|"
    r"home assistant|to|from|v)\s*$",
    re.IGNORECASE,
)
_SURE_CUE: Final = re.compile(r"(?:version|ver\.?|release|build|firmware|v)\s*$", re.IGNORECASE)
_DAY: Final = re.compile(r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:19|20)\d\d")
_VCS: Final = re.compile(
    r"(?:commit|merge|tree|parent|revert(?:s|ed)?|rev|revision|etag|object|blob|head|index|pick|checkout|author|sha)"
    r"[\s:=\"'(`]*$|[=(]\s*[bx]?[\"']$",
    re.IGNORECASE,
)
_TOPIC_CUE: Final = re.compile(r"mqtt|topic|publish|subscri|broker|retained|payload|zigbee", re.IGNORECASE)
_TOPIC_ROOTS: Final = frozenset(
    "home house shelfd zigbee2mqtt homeassistant tele stat cmnd sensors devices factory plant building $sys shellies "
    "tasmota garden greenhouse".split()
)
_CODE_ROOTS: Final = frozenset(
    "src lib bin docs tests test app etc usr var node_modules origin feature refs pkg cmd".split()
)
_HASHES: Final = {32: "md5", 40: "sha1", 64: "sha256"}


@cache  # compiled when first used, which is after the daemon's start
def _identifier() -> re.Pattern[str]:
    return re.compile(_IDENTIFIER, re.IGNORECASE | re.VERBOSE)


def find_identifiers(segment: Segment) -> Iterator[EntityMention]:
    """Yield the identifiers in *segment*."""
    text = segment.text
    has_digit = False
    end = 0
    for token in text.split():
        if token.isalpha():  # no other token is a part of it, so that the next one is looked for from where it is
            continue
        start = text.index(token, end)
        end = start + len(token)
        if _TELLING.search(token, 0, _LONGEST_TOKEN) is None:
            continue
        has_digit, word = True, token if token.isascii() else token.translate(_ONE_HYPHEN)
        if "[.]" in word or "hxxp" in word:
            word = word.replace("[.]", ".").replace("hxxp", "http").replace("[:]", ":")
        for found in _identifier().finditer(word, 0, _LONGEST_TOKEN):
            kind = found.lastgroup or ""
            read = _read(kind, found[0], text, start + found.start())
            if read is not None:
                type_, value = read
                until = min(start + found.end(), end)
                yield mention(type_, value, start + found.start(), until, 0.98)
    if has_digit:
        for found in _CVE_NUMBER.finditer(text.translate(_ONE_HYPHEN)):
            yield mention("cve", found[0], found.start(), found.end(), 0.95)
        for found in SET_NUMBER.finditer(text):
            yield mention("intrusion_set", found[0].replace(".", ""), found.start(), found.end(), 0.95)
    if "peration" in text or "PERATION" in text:
        yield from _campaigns(segment)


def _campaigns(segment: Segment) -> Iterator[EntityMention]:
    for found in _CAMPAIGN.finditer(segment.text):
        name = found[1]
        if name[0].isupper() or segment.text[found.start()].islower():
            if name.split()[0].lower() in {"and", "or", "of", "in", "on", "was", "is", "the", "with", "for", "mode"}:
                continue
            if not name[0].isupper() and found[0][0].islower():
                continue  # "operation went well"
            yield mention("campaign", found[0], found.start(), found.end(), 0.9)


def _read(kind: str, value: str, text: str, start: int) -> tuple[str, str] | None:
    """What a match is, and its value as it counts; None if it is none."""
    if kind == "url":
        return "url", value.rstrip(".,;:!?)]*_")
    if kind in {"cve", "email", "attack_pattern"}:
        return kind, value
    if kind == "hash":
        return None if _VCS.search(text, max(0, start - 40), start) else (_HASHES[len(value)], value)
    if kind in {"winpath", "path"}:
        value = value.rstrip(".,;:!?)")
        return ("path", value) if len(value) > 2 and any(c.isalpha() for c in value) else None
    if kind == "asset":
        return "asset", value
    if kind in {"ipv4", "ipv6"}:
        return _address(kind, value, text, start)
    if kind == "mqtt_topic":
        return _topic(value, text)
    if kind == "version":
        return _version(value, text, start)
    return _domain(value)


def _address(kind: str, value: str, text: str, start: int) -> tuple[str, str] | None:
    try:
        if kind == "ipv4":
            if _SURE_CUE.search(text, max(0, start - 24), start):
                return "version", value
            return "ipv4", str(IPv4Address(value))
        if not any(sign.isdigit() for sign in value) or len(value) < 3:
            return None
        return "ipv6", str(IPv6Address(value))
    except AddressValueError:
        return None


def _topic(value: str, text: str) -> tuple[str, str] | None:
    levels = value.split("/")
    if levels[0].lower() in _CODE_ROOTS or all(level.isdigit() for level in levels):
        return None
    is_wild = levels[-1] == "#" or "+" in levels
    if is_wild or levels[0].lower() == "$sys":
        return "mqtt_topic", value
    has_cue = _TOPIC_CUE.search(text) is not None
    if len(levels) == 2:
        return ("mqtt_topic", value) if has_cue and any(sign in value for sign in "_-0123456789") else None
    is_known = levels[0].lower() in _TOPIC_ROOTS
    return ("mqtt_topic", value) if has_cue or is_known else None


def _version(value: str, text: str, start: int) -> tuple[str, str] | None:
    if _DAY.fullmatch(value):
        return None
    if value[0] in "vV":
        return "version", value[1:]
    numbers = value.count(".") + 1
    before = max(0, start - 24)
    if numbers >= 3 or value[-1].isalpha():
        return "version", value
    cue = _VERSION_CUE.search(text, before, start)
    if cue is None or cue[0].strip().lower() in {"to", "from"}:
        return None
    if cue[0].strip().lower() == "v" and not re.search(r"(?<!\w)v\s*$", text[before:start], re.IGNORECASE):
        return None
    if cue[0].strip().lower() in {"go", "node", "build", "release", "index", "to"} and "." not in value:
        return None
    return "version", value


def _domain(value: str) -> tuple[str, str] | None:
    labels = value.lower().split(".")
    if labels[-1] in _DOUBTFUL and len(labels) < 3 and not any(sign in labels[0] for sign in "-0123456789"):
        return None
    if all(label.isdigit() for label in labels[:-1]) or len(labels[-2]) < 2:
        return None
    if any(sign.isupper() for sign in value[1:]) and value != value.upper():
        return None  # "done.Net", a blank was forgotten
    return "domain", value
