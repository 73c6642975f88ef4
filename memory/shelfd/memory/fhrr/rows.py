"""Where a key is: among the sign bits of its nugget, and on a page of its nugget's sketch."""


class Page:
    """Some keys of one nugget, superposed in its sketch."""

    __slots__ = ("changed", "mentions", "nugget", "place", "rows")

    def __init__(self, nugget: str, place: int) -> None:
        self.nugget = nugget
        self.place = place  #: its number among all pages
        self.rows: list[KeyRow] = []
        self.mentions = 0  #: words of the keys, repeated ones included
        self.changed = False  #: its superposition is to be computed anew


class KeyRow:
    """One key of one fact."""

    __slots__ = ("number", "owner", "page", "words")

    def __init__(self, owner: str, words: tuple[str, ...], number: int) -> None:
        self.owner = owner  #: the fact
        self.words = words
        self.number = number  #: of its sign bits
        self.page: Page | None = None
