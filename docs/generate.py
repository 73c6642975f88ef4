"""Writes the documents that are made from the models and the commands, or checks that they still say what those say.

Run: ``python docs/generate.py [--check]``
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml
from commands import cli_md, manual_page
from settings import settings_md

from shelfd.protocol import METHODS, WIRE_VERSION, Code, Limits, Method, document
from shelfd.protocol.asyncapi import asyncapi
from shelfd.protocol.methods.events import EVENT_TYPES

HERE = Path(__file__).resolve().parent
SESSION_TOOLS = HERE.parent / "gateway" / "shelfd" / "gateway" / "mcp" / "session_tools.json"
#: Methods that work on a conversation's graph.
SESSION_METHODS = (
    *("open", "close", "list", "list_visible_candidates", "get_edge_summary", "get_node_brief", "expand_from_seeds"),
    *("get_schema", "keyword_search", "vector_search", "find_by_name", "compaction_candidates", "create_node"),
    *("edit_node", "delete_node", "upsert_links", "delete_links", "compact_nodes", "apply_extraction_batch"),
)
#: Params that are the connection's affair, or the bridge's, and not a model's.
NOT_OFFERED = ("shelf", "min_seq", "timeout_ms", "idempotency_key")

PREFACE = f"""<!-- Made by docs/generate.py from the models in protocol/. Do not edit: change the models. -->

# The wire protocol, version {WIRE_VERSION}

JSON-RPC 2.0 over a Unix socket, UTF-8, one message per line. `socat - UNIX-CONNECT:SOCKET` is a client.

```
→ {{"jsonrpc":"2.0","id":1,"method":"remember","params":{{"content":"the kettle is green"}}}}
← {{"jsonrpc":"2.0","id":1,"result":{{"note":{{"id":"note-memory-1f0c33aa", …}},"status":"created", …}}}}
```

* **Order.** Requests of one connection run concurrently (64 at once; more wait). Replies may come out of order.
  Changes commit in the order they arrived; a read knows every change acknowledged before it, and every change sent
  before it on the same connection.
* **Batch.** An array of up to 1,000 requests is answered by one array; its members run one after another, each its own
  transaction. Notifications (requests without an `id`) get no reply.
* **Spelling.** Names are snake_case; on input camelCase is accepted as well, and `nuggetName` or `nugget_name` for
  `nugget`, but not two spellings at once. Unknown params are
  refused, and so is what this protocol names and this version does not have (`data.reason` is `NOT_AVAILABLE`).
* **Time.** RFC 3339 with a zone on input, UTC on output.
* **Cancel.** `$/cancel` with `{{"id": …}}` takes back a request that has not begun: it is answered with −32011.
  `timeout_ms` is a deadline: passed before the change begins, nothing happened (−32009). A change that was carried out
  is always answered with its result.
* **Idempotency.** A change repeated with the same `idempotency_key` within 7 days is answered with the first one's
  outcome and `"replayed": true`; other params under the same key are refused.
* **Who.** The principal of a connection is `uid:<n>`, from the kernel. Shelf `default` is open to all the socket
  admits; any other belongs to its creator; `[access]` in the configuration adds and removes.
* **Events.** After `events.subscribe` the daemon sends notifications `{{"method":"event","params":<CloudEvent>}}` in
  order. Who reads too slowly gets `{{"method":"events.lagged","params":{{"seq": …}}}}` and can subscribe again with
  `since_seq`.
* **Usage.** `hits`, `access_count`, `last_accessed_at` and `last_hit_session` are written within a second, outside the
  change log; a killed daemon may lose that second of them, and nothing else.
"""


def type_of(schema: dict[str, Any]) -> str:
    """A short name for a JSON schema."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " \\| ".join(str(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " \\| ".join(dict.fromkeys(type_of(option) for option in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"[{type_of(schema.get('items', {}))}]"
    if schema.get("format"):
        return str(schema["format"])
    return str(schema.get("type", "any"))


def bounds_of(schema: dict[str, Any]) -> str:
    """The limits a JSON schema names, in words."""
    options = [schema, *schema.get("anyOf", [])]
    found = []
    for option in options:
        if "minimum" in option and "maximum" in option and option["maximum"] < 2**53:
            found.append(f"{option['minimum']}…{option['maximum']}")
        elif "minimum" in option:
            found.append(f"≥ {option['minimum']}")
        if "maxLength" in option:
            found.append(f"≤ {option['maxLength']} characters")
        if "pattern" in option:
            found.append(f"`{option['pattern'].replace('|', chr(92) + '|')}`")
    return ", ".join(dict.fromkeys(found))


def default_of(schema: dict[str, Any], *, required: bool) -> str:
    """A param's default, or that it has to be given."""
    if required:
        return "required"
    return f"`{json.dumps(schema['default'])}`" if schema.get("default") is not None else ""


def method_section(method: Method) -> str:
    """One method's chapter."""
    params = method.params.model_json_schema(ref_template="{model}")
    lines = [f"### `{method.name}`", "", method.summary]
    needs = "everyone" if method.need == "open" else f"{method.need} access"
    lines += ["", f"For {needs}{'; a change' if method.is_change else ''}. Answers [{method.result.__name__}]"]
    lines[-1] += f"(#{method.result.__name__.lower()})."
    rows = []
    for name, schema in params.get("properties", {}).items():
        required = name in params.get("required", [])
        note = " ".join(filter(None, [bounds_of(schema), schema.get("description", "")]))
        rows.append(f"| `{name}` | {type_of(schema)} | {default_of(schema, required=required)} | {note} |")
    lines += ["", "| param | type | default | |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def result_section(name: str, schema: dict[str, Any]) -> str:
    """One result's chapter."""
    description = schema.get("description", "").split("\n\n")[0]
    lines = [f"### {name}", "", description, "", "| field | type | |", "|---|---|---|"]
    for field, part in schema.get("properties", {}).items():
        always = "" if field in schema.get("required", []) else "optional. "
        lines.append(f"| `{field}` | {type_of(part)} | {always}{part.get('description', '')} |")
    return "\n".join([*lines, ""])


def protocol() -> str:
    """docs/protocol.md."""
    parts = [PREFACE, "## Methods\n"]
    parts += [method_section(METHODS[name]) for name in sorted(METHODS)]
    parts += ["## Results\n"]
    schemas = document("0")["components"]["schemas"]
    wanted = dict.fromkeys(name for name in sorted(schemas) if not name.endswith(("Params", "Input")))
    parts += [result_section(name, schemas[name]) for name in wanted if schemas[name].get("type") == "object"]
    parts += ["## Limits\n", "Configuration may lower them.\n", "| limit | value | |", "|---|---|---|"]
    for name, info in Limits.model_fields.items():
        parts.append(f"| `{name}` | {info.default:,} | {info.description} |")
    parts += ["\n## Errors\n", "| code | name |", "|---|---|"]
    parts += [f"| {code.value} | {code.name} |" for code in Code]
    parts += ["\n`data` holds `type`, `retryable` and, where they apply, `reason`, `field` and `limit`.\n"]
    parts += ["## Events\n", ", ".join(f"`{name}`" for name in EVENT_TYPES) + ".\n"]
    return "\n".join(parts).rstrip("\n") + "\n"


class PlainDumper(yaml.SafeDumper):
    """Writes every value where it stands, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002
        """Return that nothing is to be referred to."""
        return True


def asyncapi_yaml() -> str:
    """docs/asyncapi.yaml."""
    head = "# Made by docs/generate.py from the models in protocol/. Do not edit: change the models.\n"
    text = yaml.dump(asyncapi(str(WIRE_VERSION)), Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=120)
    return head + text


def session_tools() -> str:
    """Methods on a conversation's graph as tools of MCP: to make them when they are asked for would take 0.1 s."""
    tools = [json.dumps(session_tool(METHODS[f"session.{name}"]), ensure_ascii=False) for name in SESSION_METHODS]
    return '{"graph": [\n' + ",\n".join(tools) + "\n]}\n"


def session_tool(method: Method) -> dict[str, Any]:
    """Describe a method as a tool, by the model of its params."""
    schema = without_titles(method.params.model_json_schema())
    for param in NOT_OFFERED:
        schema["properties"].pop(param, None)
    del schema["description"]
    hints = {"readOnlyHint": not method.is_change, "openWorldHint": False}
    name = method.name.replace(".", "_")
    return {"name": name, "description": method.summary, "inputSchema": schema, "annotations": hints}


def without_titles(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """A schema without the titles that a generator gives."""
    if isinstance(value, list):
        return [without_titles(member) for member in value]
    if not isinstance(value, dict):
        return value
    return {name: without_titles(one) for name, one in value.items() if name != "title" or isinstance(one, dict)}


def methods_txt() -> str:
    """What shells are offered for a method: its name and what it does."""
    return "".join(f"{name}\t{METHODS[name].summary}\n" for name in sorted(METHODS))


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a document is out of date")
    arguments = parser.parse_args()
    stale = []
    client = HERE.parent / "client" / "shelfd" / "client"
    for path, text in (
        (HERE / "protocol.md", protocol()),
        (HERE / "asyncapi.yaml", asyncapi_yaml()),
        (HERE / "cli.md", cli_md()),
        (HERE / "settings.md", settings_md()),
        (client / "man" / "shelfd.1", manual_page()),
        (client / "completions" / "methods.txt", methods_txt()),
        (SESSION_TOOLS, session_tools()),
    ):
        if arguments.check:
            if not path.exists() or path.read_text() != text:
                stale.append(str(path.relative_to(HERE.parent)))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for name in stale:
        sys.stderr.write(f"{name} is out of date; run: make docs\n")
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
