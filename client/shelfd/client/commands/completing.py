"""The command completion."""

import os
from typing import Annotated

import typer

from shelfd.client.completion import SHELLS
from shelfd.client.invocation import fail

_FILES = {"bash": "shelfd.bash", "zsh": "_shelfd", "fish": "shelfd.fish"}


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish")],
) -> None:
    """Print the script that completes commands in a shell.

    It completes what is on the shelf, too. `shelfd setup` installs it.

    For example:

      source <(shelfd completion bash)

      shelfd completion fish > ~/.config/fish/completions/shelfd.fish
    """
    if shell not in SHELLS:
        fail(f"{shell!r} is none of {', '.join(SHELLS)}", os.EX_USAGE)
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib costs 5 ms
    with open(f"{beside}/completions/{_FILES[shell]}", encoding="utf-8") as file:  # noqa: PTH123
        print(file.read(), end="")
