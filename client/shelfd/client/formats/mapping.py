"""What columns become members of a note, as the command line says it."""

from typing import Final

#: What a column can be mapped to, and what one of that name is without being mapped.
MEMBERS: Final = (
    *("content", "title", "key", "id", "name", "nugget", "tags", "aliases", "fields", "type", "subject", "scope"),
    *("source", "confidence", "stability", "domain", "tier", "importance", "author", "source_type", "source_ref"),
    *("occurred_at", "created_at", "updated_at", "hidden", "links"),
)


def parsed_map(given: str | None) -> dict[str, str]:
    """Return the mapping ``COLUMN=MEMBER,…`` by column.

    Raises:
        ValueError: If it is none; the message says why.
    """
    found: dict[str, str] = {}
    for pair in filter(None, (given or "").split(",")):
        column, equals, member = (part.strip() for part in pair.partition("="))
        if not equals or not column or member not in MEMBERS:
            raise ValueError(f"expected COLUMN=MEMBER,…, with a member among {', '.join(MEMBERS)}")
        if member in found.values():
            raise ValueError(f"two columns for {member}")
        found[column] = member
    return found
