"""Access control: who may do what on which shelf."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shelfd.memory.errors import Forbidden
from shelfd.protocol import Need

DEFAULT_SHELF = "default"
#: A principal that nobody has: it may do what everyone may.
ANYONE = "mqtt:"


@dataclass(frozen=True, slots=True)
class Rule:
    """What the configuration adds to or takes from one shelf. ``*`` stands for every principal."""

    read: frozenset[str] = frozenset()
    write: frozenset[str] = frozenset()
    admin: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()

    def grants(self, principal: str, need: Need) -> bool:
        """Return whether this rule lets *principal* do *need*; write includes read, admin includes both."""
        allowed = self.admin
        if need in ("read", "write"):
            allowed = allowed | self.write
        if need == "read":
            allowed = allowed | self.read
        return principal in allowed or "*" in allowed


@dataclass(frozen=True, slots=True)
class Access:
    """The access rules of one daemon.

    Shelf ``default`` is open to everyone the transport admits; another shelf belongs to its creator; rules add
    and remove. Administrators may do everything everywhere.

    Attributes:
        owner_of: Returns the principal a shelf belongs to, None when unknown.
        administrators: Principals that may do everything: root, the daemon's own uid and configured ones.
        rules: Configured rules by shelf.
    """

    owner_of: Callable[[str], str | None]
    administrators: frozenset[str] = frozenset()
    rules: Mapping[str, Rule] = field(default_factory=dict)

    def may(self, principal: str, shelf: str | None, need: Need) -> bool:
        """Return whether *principal* may do *need* on *shelf* (None: on the daemon)."""
        if need == "open" or principal in self.administrators:
            return True
        if shelf is None:
            return False
        rule = self.rules.get(shelf, Rule())
        if principal in rule.deny or "*" in rule.deny:
            return rule.grants(principal, need) and principal not in rule.deny
        if shelf == DEFAULT_SHELF and need != "admin":
            return True
        return rule.grants(principal, need) or self.owner_of(shelf) == principal

    def check(self, principal: str, shelf: str | None, need: Need) -> None:
        """Raise unless *principal* may do *need* on *shelf*.

        Raises:
            Forbidden: If it may not. The same for shelves that do not exist, so that names cannot be probed.
        """
        if not self.may(principal, shelf, need):
            where = f"on shelf {shelf!r}" if shelf is not None else "on the daemon"
            raise Forbidden(
                f"{principal} has no {need} access {where}; [access] in the daemon's configuration can grant it"
            )
