"""The API as an OpenRPC 1.3 document, made from the models."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from shelfd.protocol.registry import METHODS

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
