"""What is said of a command that does not exist: which one may be meant."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

#: By command, the words that people try for it.
_TRIED: Final[Mapping[str, str]] = {
    "remember": "add store save put new create insert write memorize note-add",
    "recall": "find query ask lookup retrieve fetch what who when where which",
    "notes": "list ls all show-all browse",
    "note": "get show cat view read open",
    "forget": "delete del rm remove hide erase archive",
    "purge": "destroy shred wipe",
    "edit": "update change modify set replace tag untag",
    "restore": "undelete unforget unhide recover",
    "link": "links unlink relate connect",
    "history": "versions revisions",
    "undo": "revert rollback",
    "nuggets": "topics nugget topic namespaces",
    "shelves": "shelf spaces",
    "facts": "fact keys values kv",
    "watch": "events tail follow subscribe monitor listen",
    "log": "changes audit",
    "reflect": "tidy clean cleanup gc consolidate dream",
    "synthesize": "summarize summarise answer synthesise",
    "why-not": "why",
    "entity": "entities who-is",
    "session": "sessions conversation conversations chat chats",
    "schedule": "cron scheduler",
    "jobs": "job tasks queue",
    "run": "start serve daemon up",
    "status": "ping health info stats",
    "doctor": "diagnose check verify",
    "call": "rpc method api",
    "config": "settings configuration configure",
    "setup": "install uninstall",
    "import": "load migrate",
    "export": "dump",
    "--version": "version",
    "-h": "man usage",
}
_INSTEAD: Final = {
    "stop": "a daemon ends with Ctrl-C, or as a service with: systemctl stop shelfd",
    "restart": "as a service: systemctl restart shelfd",
    "down": "a daemon ends with Ctrl-C, or as a service with: systemctl stop shelfd",
}


def advice(word: str, commands: Sequence[str], path: str) -> str:
    """Return what to say of *word*, which is none of *commands*; *path* is what stood before it, like ``shelfd``."""
    shown = word if word.isprintable() else ascii(word)
    if " " in word.strip():
        return (
            f"{shown[:40]!r} is no command; to look for a text: {path} recall TEXT, to store it: {path} remember TEXT"
        )
    said = f"there is no command {shown[:40]!r}"
    if word in _INSTEAD and "run" in commands:
        return f"{said}; {_INSTEAD[word]}"
    meant = [name for name, words in _TRIED.items() if word.lower() in words.split() and _exists(name, commands)]
    meant += [name for name in get_close_matches(word.lower(), commands) if name not in meant]
    if not meant:
        return f"{said}; {path} -h shows those that there are"
    return f"{said}; did you mean {' or '.join(f'{path} {name}' for name in meant[:3])}?"


def _exists(name: str, commands: Sequence[str]) -> bool:
    return name in commands or (name.startswith("-") and "run" in commands)
