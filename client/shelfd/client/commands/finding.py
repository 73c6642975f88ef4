"""Commands that find notes: recall and context."""

from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.invocation import call, text_or_stdin
from shelfd.client.output import clean, local_time, notice, print_found, print_json


def recall(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; - reads stdin.")],
    k: Annotated[int | None, typer.Option("-k", metavar="N", min=1, max=200, help="At most this many notes.")] = None,
    nugget: options.Nugget = None,
    session: options.Session = None,
    tag: options.Tags = None,
    mode: Annotated[str | None, typer.Option("--mode", metavar="MODE", help="auto, lexical or fhrr")] = None,
    max_content_chars: Annotated[int | None, typer.Option("--max-content-chars", metavar="N", min=1)] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="Hidden notes too.")] = False,
    focus: Annotated[
        str | None, typer.Option("--focus", metavar="WHAT", help="auto, or off: leave out nothing of what fits.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="Only what holds at a time like 2026-01-31T09:00:00Z.")
    ] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", metavar="TIME", help="What was known then, or after change number N.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="What each score is made of.")] = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Find the notes that fit QUERY, best first.

    A question mark after a score means that the note may not say what was asked.

    For example:

      shelfd recall "when is tea"

      shelfd recall answer --nugget life -k 3 --explain
    """
    params = {
        "query": text_or_stdin(query), "k": k, "nugget": nugget, "session_id": session, "tags": tag, "mode": mode,
        "focus": focus, "max_content_chars": max_content_chars, "include_hidden": hidden or None,
        "as_of": as_of, "known_at": int(known_at) if known_at and known_at.isdecimal() else known_at,
        "explain": explain or None, "shelf": shelf,
    }  # fmt: skip
    result = call(socket, "recall", params)
    print_json(result) if as_json else _print_recalled(result)


def _print_recalled(result: dict[str, Any]) -> None:
    answer = result.get("answer")
    if answer and answer["found"]:
        origin = f"({answer['note_id']}, confidence {answer['confidence']:.2f})"
        print(f"{answer['key']} = {clean(answer['value'])}  {origin}\n")
    for hit in result["results"]:
        signals = hit.get("signals")
        if signals is not None:
            signals = signals | {name: hit[name] for name in ("coverage", "relevance") if name in hit}
        print_found(hit["note"], score=hit["score"], unsure=not hit.get("relevant", True), signals=signals)
    if not result["results"]:
        notice("nothing found")
    elif result["abstained"]:
        notice("none of these is sure to say what was asked")
    if dropped := result.get("dropped"):
        notice(f"{dropped} more left out, which are about something else: --focus off shows them")
    index = result["index"]
    if index["state"] == "warming":
        notice(f"the index is warming up: {index['share']:.0%} of the shelf was searched")


def why_not(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What was looked for; - reads stdin.")],
    note_id: Annotated[str, typer.Argument(metavar="ID", help="The note that was expected.")],
    k: Annotated[
        int | None, typer.Option("-k", metavar="N", min=1, max=200, help="How many notes were wanted.")
    ] = None,
    nugget: options.Nugget = None,
    session: options.Session = None,
    tag: options.Tags = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="Hidden notes too.")] = False,
    focus: Annotated[str | None, typer.Option("--focus", metavar="WHAT", help="auto or off")] = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Say why recall of QUERY does not return the note ID: which stage lost it, and by how much.

    For example:

      shelfd why-not "when is tea" note-memory-1a2b3c4d
    """
    params = {
        "query": text_or_stdin(query), "id": note_id, "k": k, "nugget": nugget, "session_id": session, "tags": tag,
        "include_hidden": hidden or None, "focus": focus, "shelf": shelf,
    }  # fmt: skip
    result = call(socket, "why_not", params)
    print_json(result) if as_json else _print_why(result)


def _print_why(result: dict[str, Any]) -> None:
    print(f"{result['stage']}: {clean(result['why'])}")
    for lost in result.get("filters", ()):
        when = f", {local_time(lost['at'])}" if "at" in lost else ""
        who = f" by {clean(lost['principal'])}" if "principal" in lost else ""
        print(f"    {lost['filter']}{when}{who}")
    if "rank" in result:
        words = result["matched_words"]
        print(f"    number {result['rank']} of {result['of']}, score {result['score']:.3f}, {words} words in common")


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the prompt is about; - reads stdin.")],
    k: Annotated[int | None, typer.Option("-k", metavar="N", min=1, max=200, help="At most this many notes.")] = None,
    nugget: options.Nugget = None,
    session: options.Session = None,
    token_budget: Annotated[int | None, typer.Option("--token-budget", metavar="N", min=1)] = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Print recalled notes as text for a prompt.

    For example:

      shelfd context "plan the afternoon" --token-budget 1000
    """
    params = {
        "query": text_or_stdin(query), "k": k, "nugget": nugget, "session_id": session, "token_budget": token_budget,
        "shelf": shelf,
    }  # fmt: skip
    result = call(socket, "get_context", params)
    print_json(result) if as_json else print(clean(result["text"]))
