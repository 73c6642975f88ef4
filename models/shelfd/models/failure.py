"""Why one attempt at a question failed."""


class AttemptFailed(Exception):
    """The server did not answer one request as it should.

    Attributes:
        text: For people; our own words.
        reason: For programs.
        is_retried: Whether the same request may succeed soon.
        is_form: Whether the server may only dislike the form of the request.
        retry_after: When to come again, as the server says it; None if it does not.
    """

    def __init__(
        self,
        text: str,
        reason: str = "MODEL_FAILED",
        *,
        is_retried: bool = True,
        is_form: bool = False,
        retry_after: str | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.reason = reason
        self.is_retried = is_retried
        self.is_form = is_form
        self.retry_after = retry_after
