"""One fact as the memory keeps it."""


class Fact:
    """A key, its value, and where the memory has them."""

    __slots__ = ("aliases", "bank", "folded", "key", "nugget", "row", "rows", "value")

    def __init__(self, row: str, key: str, folded: str, value: str, aliases: tuple[str, ...], nugget: str) -> None:
        self.row = row  #: the caller's name of the fact
        self.key = key  #: as put
        self.folded = folded
        self.value = value
        self.aliases = aliases  #: folded
        self.nugget = nugget
        self.bank = 0
        self.rows: tuple[int, ...] = ()  #: of the key and the aliases among all keys
