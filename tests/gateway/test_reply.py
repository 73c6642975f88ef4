"""A result that is JSON already is sent as one that is data."""

import json
from typing import Any

import pytest

from shelfd.gateway.reply import Reply, encoded, fitted
from shelfd.memory.encoded import EncodedResult

RESULT = {"nodes": [{"value": 'a "quoted" Größe\n'}], "truncated": False}


@pytest.mark.parametrize("request_id", [7, "seven", None])
@pytest.mark.parametrize("members", [{}, {"shelf": "default"}])
def test_it_is_the_same_message(request_id: Any, members: dict[str, Any]) -> None:
    text = json.dumps(RESULT, ensure_ascii=False, separators=(",", ":"))
    as_json = Reply(request_id, EncodedResult(text.encode()))
    as_data = Reply(request_id, RESULT)
    assert encoded(as_json, **members) == encoded(as_data, **members)
    assert as_json.data == as_data.data == RESULT
    assert Reply(request_id).data == {}


def test_it_is_refused_if_it_is_too_large() -> None:
    data, sent = fitted(Reply(1, EncodedResult(b'{"text":"%b"}' % (b"x" * 999))), 500)
    assert sent.result is None
    assert json.loads(data)["error"]["data"]["type"] == "TooLarge"
