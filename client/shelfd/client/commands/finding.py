"""Commands that find notes: recall, search, why-not and context."""

from typing import Annotated, Any, Final

import typer

from shelfd.client.commands import options
from shelfd.client.hints import as_commands
from shelfd.client.invocation import call
from shelfd.client.output import clean, counted, local_time, notice, print_found, print_json
from shelfd.client.texts import moment, needed

Focus = Annotated[
    str | None, typer.Option("--focus", metavar="WHAT", help="auto, or off: leave out nothing of what fits.")
]
_HOOK_S: Final = 5.0  #: an agent, and a person, wait for what a hook says
Author = Annotated[str | None, typer.Option("--author", metavar="NAME", help="Only what NAME said.")]


def recall(
    query: options.Query,
    k: options.Best = None,
    nugget: options.Nugget = None,
    tag: options.Tags = None,
    type_: options.Type = None,
    subject: options.Subject = None,
    scope: options.Scope = None,
    domain: options.Domain = None,
    author: Author = None,
    session: options.Session = None,
    mode: Annotated[str | None, typer.Option("--mode", metavar="MODE", help="auto, lexical, fhrr or route")] = None,
    min_score: Annotated[float | None, typer.Option("--min-score", metavar="X", help="0 to 1.")] = None,
    max_age: Annotated[
        str | None, typer.Option("--max-age", metavar="SPAN", help="Only what is younger, like 30d or 12h.")
    ] = None,
    max_content_chars: Annotated[int | None, typer.Option("--max-content-chars", metavar="N", min=1)] = None,
    hidden: options.Hidden = False,
    focus: Focus = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="Only what holds then, as is known now.")
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

      shelfd recall when is tea

      shelfd recall answer --nugget life -k 3 --explain

      shelfd recall who runs the bakery --known-at 2026-01-31
    """
    params = {
        "query": needed(query, name="QUERY"), "k": k, "nugget": nugget, "tags": tag, "type": type_,
        "subject": subject, "scope": scope, "domain": domain, "author": author, "session_id": session, "mode": mode,
        "min_score": min_score, "max_age": max_age, "max_content_chars": max_content_chars,
        "include_hidden": hidden or None, "focus": focus, "as_of": moment(as_of, "--as-of"),
        "known_at": int(known_at) if known_at and known_at.isdecimal() else moment(known_at, "--known-at"),
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
        marks = {"unsure": not hit.get("relevant", True), "contradicted": "conflicts" in hit}
        print_found(hit["note"], score=hit["score"], signals=signals, **marks)
    if not result["results"]:
        notice("nothing found")
    elif result["abstained"]:
        notice("none of these is sure to say what was asked")
    if same := sum(len(hit.get("collapsed", ())) for hit in result["results"]):
        notice(f"{same} more say the same as one of these: --focus off shows them")
    if dropped := result.get("dropped"):
        notice(f"{dropped} more left out, which are about something else: --focus off shows them")
    index = result["index"]
    if index["state"] == "warming":
        notice(f"the index is warming up: {index['share']:.0%} of the shelf was searched")


def search(
    query: options.Query,
    limit: options.Best = None,
    nugget: options.Nugget = None,
    type_: options.Type = None,
    subject: options.Subject = None,
    scope: options.Scope = None,
    hidden: options.Hidden = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """List notes like QUERY by a simpler measure than recall.

    It leaves nothing out and counts no hit.

    For example:

      shelfd search tea

      shelfd search kettle colour --nugget home -k 20
    """
    params = {
        "query": needed(query, name="QUERY"), "limit": limit, "nugget": nugget, "type": type_, "subject": subject,
        "scope": scope, "include_hidden": hidden or None, "shelf": shelf,
    }  # fmt: skip
    result = call(socket, "note.search", params)
    if as_json:
        print_json(result)
        return
    for match in result["results"]:
        print_found(match["note"], score=match["raw_score"])
    if not result["results"]:
        notice("nothing found")


def why_not(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What was looked for; - reads stdin.")],
    note_id: Annotated[str, typer.Argument(metavar="ID", help="The note that was expected.")],
    k: options.Best = None,
    nugget: options.Nugget = None,
    session: options.Session = None,
    tag: options.Tags = None,
    hidden: options.Hidden = False,
    focus: Focus = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Say why recall of QUERY does not return a note.

    Prints which stage lost it, and by how much.

    For example:

      shelfd why-not when is tea note-memory-1a2b3c4d
    """
    params = {
        "query": needed(query, name="QUERY"), "id": note_id, "k": k, "nugget": nugget, "session_id": session,
        "tags": tag, "include_hidden": hidden or None, "focus": focus, "shelf": shelf,
    }  # fmt: skip
    result = call(socket, "why_not", params)
    print_json(result) if as_json else _print_why(result)


def _print_why(result: dict[str, Any]) -> None:
    print(f"{result['stage']}: {clean(as_commands(result['why']))}")
    for lost in result.get("filters", ()):
        when = f", {local_time(lost['at'])}" if "at" in lost else ""
        who = f" by {clean(lost['principal'])}" if "principal" in lost else ""
        print(f"    {lost['filter']}{when}{who}")
    if "rank" in result:
        words = counted(result["matched_words"], "word")
        print(f"    number {result['rank']} of {result['of']}, score {result['score']:.3f}, {words} in common")


def context(
    query: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY", help="What the prompt is about; - reads stdin.")
    ] = None,
    stdin_prompt: Annotated[
        bool, typer.Option("--stdin-prompt", help="Stdin has the prompt, as an agent's hook says it; never fails.")
    ] = False,
    k: options.Best = None,
    nugget: options.Nugget = None,
    session: options.Session = None,
    token_budget: Annotated[int | None, typer.Option("--token-budget", metavar="N", min=1)] = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Print recalled notes as text for a prompt.

    For example:

      shelfd context plan the afternoon --token-budget 1000
    """
    params: dict[str, Any] = {"k": k, "nugget": nugget, "token_budget": token_budget, "shelf": shelf}
    if not stdin_prompt:
        result = call(socket, "get_context", {**params, "query": needed(query, name="QUERY"), "session_id": session})
        print_json(result) if as_json else print(clean(result["text"]))
        return
    from shelfd.client.hooks import never_fails, prompted  # for agents only

    with never_fails():
        result = call(socket, "get_context", {**params, **prompted(session)}, timeout_s=_HOOK_S)
        if as_json:
            print_json(result)
        elif result["notes"]:  # nothing at all is better than that nothing was found
            print(clean(result["text"]))
