"""The AsyncAPI document: what the standard asks of it, what the models ask of its examples, and nothing left out."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import BaseModel

from shelfd.protocol import METHODS
from shelfd.protocol.asyncapi import SOCKET_ONLY, asyncapi
from shelfd.protocol.methods.events import EVENT_TYPES, CloudEvent
from shelfd.protocol.mqtt import GapEvent, HealthMessage, MqttReply, MqttRequestBody, StatusMessage

CHECKOUT = Path(__file__).resolve().parents[2]
TOLD: dict[str, type[BaseModel]] = {
    **dict.fromkeys(EVENT_TYPES, CloudEvent), "events.gap": GapEvent, "status": StatusMessage, "health": HealthMessage,
}  # fmt: skip


@cache
def document() -> dict[str, Any]:
    """The document as a reader gets it."""
    found: dict[str, Any] = json.loads(json.dumps(asyncapi("1")))
    return found


def examples(channel: str) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield name of message, message and payload of each example."""
    for message in document()["channels"][channel]["messages"].values():
        for example in message.get("examples", []):
            yield message["name"], message, example["payload"]


def channels() -> list[str]:
    return list(document()["channels"])


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for member in value.values():
            yield from references(member)
    elif isinstance(value, list):
        for member in value:
            yield from references(member)


def resolved(reference: str) -> Any:
    found: Any = document()
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def test_it_is_what_asyncapi_3_asks_for() -> None:
    schema = json.loads((CHECKOUT / "tests" / "data" / "asyncapi-3.0.0.json").read_text())
    jsonschema.Draft7Validator(schema).validate(document())


def test_the_standard_s_schema_would_find_a_mistake() -> None:
    schema = json.loads((CHECKOUT / "tests" / "data" / "asyncapi-3.0.0.json").read_text())
    broken = {**document(), "operations": {"remember": {"action": "ask"}}}
    assert not jsonschema.Draft7Validator(schema).is_valid(broken)


def test_every_reference_leads_somewhere() -> None:
    found = set(references(document()))
    assert len(found) > 2 * len(METHODS)
    for reference in found:
        assert resolved(reference) is not None


def test_every_schema_is_one() -> None:
    for schema in document()["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_method_has_request_and_reply() -> None:
    operations = document()["operations"]
    wanted = set(METHODS) - SOCKET_ONLY
    assert {name for name, operation in operations.items() if operation["action"] == "receive"} == wanted
    assert set(document()["channels"]["reply"]["messages"]) == wanted
    for name in wanted:
        channel = resolved(operations[name]["channel"]["$ref"])
        assert channel["address"] == f"shelfd/v1/{{instance}}/req/{{user}}/{name}"
        assert operations[name]["reply"]["address"]["location"] == "$message.header#/responseTopic"


def test_every_parameter_of_an_address_is_explained() -> None:
    for channel in document()["channels"].values():
        if channel["address"] is not None:
            named = {part[1:-1] for part in channel["address"].split("/") if part.startswith("{")}
            assert set(channel["parameters"]) == named


def test_every_type_of_event_is_described() -> None:
    events = document()["channels"]["events"]
    assert set(events["messages"]) == {*EVENT_TYPES, "events.gap"}
    assert set(events["parameters"]["type"]["enum"]) == {*EVENT_TYPES, "events.gap"}


@pytest.mark.parametrize("channel", channels())
def test_examples_fit_the_document_s_own_schemas(channel: str) -> None:
    for _, message, payload in examples(channel):
        schema = {**message["payload"], "components": document()["components"]}
        jsonschema.Draft202012Validator(schema).validate(payload)


def test_examples_fit_the_models() -> None:
    count = 0
    for channel in channels():
        for name, _, payload in examples(channel):
            count += 1
            text = json.dumps(payload)
            if channel.startswith("request."):
                MqttRequestBody.model_validate_json(text)
                METHODS[name].params.model_validate(payload.get("params", {}))
            elif channel == "reply":
                reply = MqttReply.model_validate_json(text)
                assert (reply.result is None) != (reply.error is None)
                if reply.result is not None:
                    METHODS[name.removesuffix(".reply")].result.model_validate(reply.result)
            else:
                TOLD[name].model_validate_json(text)
    assert count >= 12


def test_a_health_message_is_what_health_answers() -> None:
    [(_, _, payload)] = list(examples("health"))
    METHODS["system.health"].result.model_validate(payload)


def test_the_file_is_as_the_models_have_it_and_drift_is_noticed(tmp_path: Path) -> None:
    copy = tmp_path / "docs"
    copy.mkdir()
    for script in ("generate.py", "commands.py", "settings.py"):
        (copy / script).write_text((CHECKOUT / "docs" / script).read_text())
    (tmp_path / "config").symlink_to(CHECKOUT / "config")
    run = [sys.executable, str(copy / "generate.py")]
    subprocess.run(run, check=True, timeout=120)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, 20 times as fast
    assert yaml.load((copy / "asyncapi.yaml").read_text(), Loader=loader) == document()
    with (copy / "asyncapi.yaml").open("a") as file:
        file.write("# edited\n")
    done = subprocess.run([*run, "--check"], check=False, timeout=120, capture_output=True, text=True)
    assert (done.returncode, "asyncapi.yaml" in done.stderr) == (1, True)


def test_nothing_needs_yaml_to_run() -> None:
    code = "import sys, shelfd.protocol, shelfd.protocol.asyncapi; assert 'yaml' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
