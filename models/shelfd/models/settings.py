"""What can be set about the language model."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

#: How a server is made to answer with JSON: its own schema support, a tool call, JSON of any shape, or by asking.
Format = Literal["auto", "json_schema", "tool", "json_object", "text"]


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What can be set about the language model.

    Attributes:
        url: Up to the version, as ``http://127.0.0.1:11434/v1``; empty: there is no model.
        model: Its name there.
        api_key: Sent as a bearer token; None: none.
        ca_file: Certificates of the authorities to trust instead of the system's; empty: those.
        reply_format: How to get JSON; ``auto`` tries one after another and stays with what works.
        timeout: For one attempt, from the connection to the last byte.
        deadline: For a question with all its attempts and the waiting between them.
        retries: Attempts beside the first.
        concurrency: Questions at a time; others wait.
        max_reply_bytes: A longer reply is cut off and refused.
        context_tokens: What a question may have with its answer.
        tokens_per_day: What all questions of a day may take; 0: any number.
        price_in: Of a million tokens of questions, in any currency; 0: nothing is counted.
        price_out: Of a million tokens of answers.
        failures: In a row, after which nothing is sent for a while.
        rest: That while; then one question is a trial.
    """

    url: str = ""
    model: str = ""
    api_key: str | None = field(default=None, repr=False)
    ca_file: str = ""
    reply_format: Format = "auto"
    timeout: timedelta = timedelta(seconds=60)
    deadline: timedelta = timedelta(seconds=180)
    retries: int = 2
    concurrency: int = 2
    max_reply_bytes: int = 1 << 20
    context_tokens: int = 8192
    tokens_per_day: int = 0
    price_in: float = 0.0
    price_out: float = 0.0
    failures: int = 5
    rest: timedelta = timedelta(seconds=30)
