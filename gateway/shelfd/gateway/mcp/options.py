"""What a client, or the bridge that speaks for it, wants beside a request: in its ``_meta``, each by itself."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from shelfd.gateway.envelope import Refusal
from shelfd.protocol import Wire, from_validation
from shelfd.protocol.base import NuggetName, ShelfName, Token

#: Where they are in ``_meta``.
OPTIONS: Final = "shelfd/options"


class McpOptions(Wire):
    """How a request is meant."""

    shelf: ShelfName = "default"
    tools: Annotated[list[str], Field(max_length=8)] = Field(default_factory=list, description="Sets of tools.")
    graph: NuggetName = Field(default="memory", description="Nugget of the knowledge graph.")
    key: Token | None = Field(default=None, description="A repeated call with this key is not carried out again.")


_NONE: Final = McpOptions()


def options_of(meta: Mapping[str, Any]) -> McpOptions:
    """Return the options of a request.

    Raises:
        Refusal: If they are none.
    """
    given = meta.get(OPTIONS)
    if given is None:
        return _NONE
    try:
        return McpOptions.model_validate(given)
    except ValidationError as error:
        raise Refusal(from_validation(error, prefix=("_meta", OPTIONS))) from None
