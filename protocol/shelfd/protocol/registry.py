"""The table of methods, and the API as an OpenRPC 1.3 document made from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from shelfd.protocol.base import Params

#: What a principal needs to call a method: ``open`` needs nothing, the others are granted by the shelf's access rules.
Need = Literal["open", "read", "write", "admin"]


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the wire contract.

    Attributes:
        name: As it goes over the wire.
        params: Model that validates ``params``.
        result: Model that describes ``result``; handlers answer with plain dicts of this shape.
        need: What the caller must be allowed to do.
        is_change: Whether it changes the shelf, and so takes an idempotency key and keeps arrival order.
        summary: One sentence for documents and ``rpc.discover``.
        is_barrier: Whether the caller's later changes wait for its end: it decides access, or has to prepare before it
            takes its place among the changes.
        has_dry_run: Whether its params have ``dry_run``.
    """

    name: str
    params: type[Params]
    result: type[BaseModel]
    need: Need
    is_change: bool
    summary: str
    is_barrier: bool = False
    has_dry_run: bool = False


_methods: dict[str, Method] = {}

#: Every method of this version by name.
METHODS: Mapping[str, Method] = MappingProxyType(_methods)


def define(
    name: str,
    params: type[Params],
    result: type[BaseModel],
    *,
    need: Need,
    summary: str,
    is_change: bool | None = None,
    is_barrier: bool = False,
) -> Method:
    """Enter a method into the table; a method that needs ``write`` is a change unless *is_change* says otherwise.

    Raises:
        ValueError: If the name is taken.
    """
    if name in _methods:
        raise ValueError(f"method {name!r} is defined twice")
    change = need == "write" if is_change is None else is_change
    _methods[name] = Method(
        name, params, result, need, change, summary, is_barrier, has_dry_run="dry_run" in params.model_fields
    )
    return _methods[name]


#: Methods the contract names and this version answers with NOT_AVAILABLE.
PLANNED = frozenset(
    """
    recall.feedback
    shelf.export shelf.merge shelf.move shelf.backup shelf.restore
    """.split()
)


_REF = "#/components/schemas/{model}"


def document(version: str) -> dict[str, Any]:
    """Return the OpenRPC document of every method, for the daemon's *version*."""
    wanted: list[tuple[type[BaseModel], str]] = [(method.params, "validation") for method in METHODS.values()]
    wanted += [(method.result, "serialization") for method in METHODS.values()]
    references, definitions = models_json_schema(wanted, ref_template=_REF)  # type: ignore[arg-type]
    schemas: dict[str, Any] = definitions.get("$defs", {})
    methods = []
    for method in METHODS.values():
        params_schema = schemas[references[method.params, "validation"]["$ref"].rsplit("/", 1)[1]]
        required = params_schema.get("required", [])
        methods.append(
            {
                "name": method.name,
                "summary": method.summary,
                "paramStructure": "by-name",
                "params": [
                    {"name": name, "required": name in required, "schema": schema}
                    for name, schema in params_schema.get("properties", {}).items()
                ],
                "result": {"name": "result", "schema": references[method.result, "serialization"]},
                "x-needs": method.need,
                "x-change": method.is_change,
            }
        )
    return {
        "openrpc": "1.3.2",
        "info": {
            "title": "shelfd",
            "version": version,
            "description": "The memory of an AI agent, over a Unix socket.",
        },
        "methods": methods,
        "components": {"schemas": schemas},
    }
