"""A result that is JSON already."""

from typing import Any, NamedTuple

from pydantic_core import from_json


class EncodedResult(NamedTuple):
    """The JSON of a result.

    A result of a thousand records of one shape is written as it is found: to make records, and JSON of these, takes
    four times as long.
    """

    json: bytes  #: an object in UTF-8

    def decoded(self) -> dict[str, Any]:
        """Return the result as data."""
        result: dict[str, Any] = from_json(self.json)
        return result


def decoded(result: dict[str, Any] | EncodedResult) -> dict[str, Any]:
    """Return a result as data, as who does not only pass it on needs it."""
    return result.decoded() if isinstance(result, EncodedResult) else result
