"""What a shell offers behind Tab: commands, options, and what is on the shelf.

The scripts in ``completions/`` call ``shelfd complete SHELL`` with what is on the line; the answer is one candidate a
line, with a tab and a description where a shell shows one, or ``:files``, where the shell knows better.
"""

import os
import re
import shlex
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from shelfd.client.offers import Offer, Unfinished, is_file, offers

SHELLS: Final = ("bash", "zsh", "fish")
FILES: Final = ":files"
#: What of a word bash hands to nobody: it completes what comes behind the last of these.
_BREAKS: Final = "=:"
_UNSAFE: Final = re.compile(r"([^\w@%+,.:=/-])")


class Completed(NamedTuple):
    """What is offered for a word, or that it is the name of a file."""

    offers: Sequence[Offer] = ()
    are_files: bool = False


def main(arguments: Sequence[str]) -> int:
    """Completed the script of a shell: ``bash LINE``, or ``zsh`` or ``fish`` and the words on the line.

    Never says a word on stderr and never fails: there is a person in the middle of a line.
    """
    shell, *words = arguments or ("",)
    if shell not in SHELLS or not words:
        return os.EX_USAGE
    quote = ""
    if shell == "bash":
        words, quote = _split(words[0])
    try:
        answer = complete(words)
    except Exception:  # noqa: BLE001 - see above
        return os.EX_OK
    if answer.are_files:
        lines = [FILES]
    elif shell == "bash":
        lines = [_for_bash(offer.value, words[-1], quote) for offer in answer.offers]
    else:
        lines = [f"{value}\t{about}" if about else value for value, about in answer.offers]
    print("".join(f"{line}\n" for line in lines), end="")
    return os.EX_OK


def _split(line: str) -> tuple[list[str], str]:
    """Return the words behind the command's name, the last of them unfinished, and the quote that is open in it."""
    for quote in ("", '"', "'"):
        try:
            words = shlex.split(line + quote)
        except ValueError:
            continue
        is_new = line[-1:].isspace() and not quote and not line.endswith("\\ ")
        return ([*words[1:], ""] if is_new or len(words) < 2 else words[1:]), quote
    return [line.rsplit(maxsplit=1)[-1]], ""


def _for_bash(value: str, word: str, quote: str) -> str:
    """Return what bash is to put behind the last character at which it broke the word."""
    kept = max(word.rfind(c) for c in _BREAKS) + 1
    rest = value[kept:] if value.startswith(word[:kept]) else value
    return rest if quote else _UNSAFE.sub(r"\\\1", rest)


def complete(words: Sequence[str]) -> Completed:
    """Return what the last of *words*, those behind ``shelfd``, may become."""
    import typer

    from shelfd.client.application import app

    *before, word = words
    node: Any = typer.main.get_command(app)
    while hasattr(node, "commands"):
        name = next((one for one in before if not one.startswith("-")), None)
        if name is None:
            if word.startswith("-"):
                return Completed(_options(node, word))
            return Completed([Offer(one, _about(node.commands[one])) for one in node.commands if one.startswith(word)])
        if name not in node.commands:
            return Completed()
        before = before[before.index(name) + 1 :]
        node = node.commands[name]
        node = node.load() if hasattr(node, "load") else node
        if hasattr(node, "commands") and not any(one in node.commands for one in before):
            return _of_group(node, before, word)
    return _of_command(node, before, word)


def _of_group(group: Any, before: Sequence[str], word: str) -> Completed:  # noqa: ANN401
    """A group that does something by itself takes options as well as commands."""
    answer = _of_command(group, before, word)
    if answer.offers or answer.are_files or word.startswith("-") or _awaiting(group, before):
        return answer
    return Completed([Offer(one, _about(group.commands[one])) for one in group.commands if one.startswith(word)])


def _of_command(command: Any, before: Sequence[str], word: str) -> Completed:  # noqa: ANN401
    said, place, is_behind = _read(command, before)
    if param := _awaiting(command, before):
        return _values(param, word, said, command.name)
    if not is_behind and word.startswith("--") and "=" in word:
        flag, _, begun = word.partition("=")
        found = _values(_by_flag(command).get(flag), begun, said, command.name)
        return found._replace(offers=[Offer(f"{flag}={value}", about) for value, about in found.offers])
    if not is_behind and word.startswith("-"):
        return Completed(_options(command, word))
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    if not arguments:
        return Completed()
    # What takes any number of words is only followed by what needs none, or it is the last but one.
    param = arguments[min(place, len(arguments) - 1)]
    if command.name == "help":
        return complete([*before, word]) if "help" not in before else Completed()
    return _values(param, word, said, command.name)


def _read(command: Any, before: Sequence[str]) -> tuple[dict[str, str], int, bool]:  # noqa: ANN401
    """Return what was said for which parameter, how many arguments that were, and whether a ``--`` was among it."""
    flags = _by_flag(command)
    said: dict[str, str] = {}
    place, is_behind, left = 0, False, list(before)
    while left:
        word = left.pop(0)
        if word == "--" and not is_behind:
            is_behind = True
        elif word.startswith("-") and not is_behind:
            flag, sign, value = word.partition("=")
            param = flags.get(flag)
            if param is not None and not param.is_flag:
                said[param.name] = value if sign else (left.pop(0) if left else "")
        else:
            place += 1
    return said, place, is_behind


def _awaiting(command: Any, before: Sequence[str]) -> Any:  # noqa: ANN401
    """The option whose value the next word is; None if it is no option's."""
    if not before or "--" in before:
        return None
    param = _by_flag(command).get(before[-1])
    return None if param is None or param.is_flag else param


def _by_flag(command: Any) -> dict[str, Any]:  # noqa: ANN401
    return {flag: param for param in command.params if param.param_type_name == "option" for flag in param.opts}


def _options(command: Any, word: str) -> list[Offer]:  # noqa: ANN401
    found = []
    for param in command.params:
        if param.param_type_name == "option" and not getattr(param, "hidden", False):
            flags = [*param.opts, *param.secondary_opts]
            wanted = [flag for flag in flags if flag.startswith(word) and (flag.startswith("--") or word != "-")]
            found += [Offer(flag, getattr(param, "help", None) or "") for flag in wanted]
    return [*found, *(Offer(flag, "Explain it.") for flag in ("--help",) if flag.startswith(word))]


def _values(param: Any, word: str, said: dict[str, str], command: str) -> Completed:  # noqa: ANN401
    if param is None:
        return Completed()
    if is_file(param.name):
        return Completed(are_files=True)
    return Completed(offers(param.name, Unfinished(word, said, command)))


def _about(command: Any) -> str:  # noqa: ANN401
    return str(command.get_short_help_str(limit=100))
