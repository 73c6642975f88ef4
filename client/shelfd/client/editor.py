"""A text, changed by a person in an editor."""

import os
import shlex
import subprocess
import tempfile

from shelfd.client.invocation import fail


def edited(text: str) -> str | None:
    """Return *text* as it is after $VISUAL or $EDITOR, or vi; None if that was left with an error.

    Raises:
        Stop: If there is no such editor, or what it leaves is no text.
    """
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    # In memory where there is such a place: what is remembered stays off the disk.
    directory = os.environ.get("XDG_RUNTIME_DIR") or None
    with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8", dir=directory) as draft:  # mode 0600
        draft.write(text if text.endswith("\n") else f"{text}\n")
        draft.flush()
        try:
            done = subprocess.run([*command, draft.name], check=False)  # noqa: S603 - the user's own editor
        except OSError as error:
            fail(f"{command[0]}: {error.strerror}; $EDITOR names another editor", os.EX_UNAVAILABLE, "NoEditor")
        if done.returncode != 0:
            return None
        try:
            # By its name: many editors put another file in its place.
            with open(draft.name, encoding="utf-8") as file:  # noqa: PTH123 - as everywhere in the client
                return file.read()
        except (OSError, UnicodeDecodeError):
            fail("what the editor left is no UTF-8 text", os.EX_DATAERR, "NotText")
