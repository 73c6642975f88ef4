"""The command synthesize."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import typer

from shelfd.client.commands import options
from shelfd.client.output import clean, notice, one_line, print_json, print_table, width
from shelfd.client.patience import call_patiently
from shelfd.client.texts import needed

Synthesis = Mapping[str, Any]


def synthesize(
    query: options.Query,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="answer, brief, timeline or map, or what the daemon calls them: direct_answer, …",
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--limit", "-k", metavar="N", min=1, max=20, help="At most this many notes.")
    ] = None,
    tier: Annotated[
        list[str] | None, typer.Option("--tier", metavar="TIER", help="A, B or C; may be given several times.")
    ] = None,
    nugget: options.Nugget = None,
    session: options.Session = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Answer QUERY from the notes that say something about it.

    Shows which those are.

    For example:

      shelfd synthesize when is tea

      shelfd synthesize what happened to the boat --format timeline
    """
    wanted = format_ and _FULL_NAMES.get(format_, format_)
    if wanted and wanted not in _PRINT:
        raise typer.BadParameter(f"is none of {', '.join(_FULL_NAMES)}", param_hint="--format")
    params = {
        "query": needed(query, name="QUERY"), "format": wanted, "k": k,
        "tier_filter": tier, "nugget": nugget, "session_id": session, "shelf": shelf,
    }  # fmt: skip
    result = call_patiently(socket, "synthesize", params)
    if as_json:
        print_json(result)
        return
    _print(result)
    index = result["index"]
    if index["state"] == "warming":
        notice(f"notes are still being read: {index['share']:.0%} of what is known was looked through")


def _print(result: Mapping[str, Any]) -> None:
    _PRINT[result["format"]](result["synthesis"])
    if not result["sources"]:
        notice("no note is sure to say anything about it")
        return
    print("\nsources")
    rows = [
        (f"{source['relevance_score']:.2f}", source["tier"], source["note_id"], source["quote"])
        for source in result["sources"]
    ]
    print_table(rows)
    model = result["metadata"]["model_used"]
    notice(f"worded by {clean(model or 'a language model')}" if result["engine"] == "llm" else "sentences of the notes")


def _print_answer(synthesis: Synthesis) -> None:
    print(f"{clean(synthesis['answer'])}\nconfidence {synthesis['confidence']:.2f}")


def _print_brief(synthesis: Synthesis) -> None:
    print(f"{clean(synthesis['summary'])}\nconfidence {synthesis['confidence']:.2f}")
    for theme in synthesis["themes"]:
        print(f"\n{one_line(theme['name'], width())}")
        print_table([("   ", evidence["note_id"], evidence["quote"]) for evidence in theme["evidence"]])


def _print_timeline(synthesis: Synthesis) -> None:
    print_table([(event["date"], event["note_id"], event["event"]) for event in synthesis["timeline"]])


def _print_map(synthesis: Synthesis) -> None:
    for one in synthesis["relationships"]:
        print(f"{one_line(one['from'], 60)}  {one_line(one['type'], 60)}  {one_line(one['to'], 60)}  {one['note_id']}")
    if synthesis["relationships"]:
        print()
    rows = [(one["type"], one["name"], " ".join(one["note_ids"])) for one in synthesis["entities"]]
    print_table(rows)


_PRINT: Final[Mapping[str, Callable[[Synthesis], None]]] = {
    "direct_answer": _print_answer,
    "synthesized_brief": _print_brief,
    "timeline_analysis": _print_timeline,
    "relationship_map": _print_map,
}
_FULL_NAMES: Final = {
    "answer": "direct_answer", "brief": "synthesized_brief", "timeline": "timeline_analysis",
    "map": "relationship_map",
}  # fmt: skip
