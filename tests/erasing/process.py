"""The process that forks daemons, as seen from the harness."""

import json
import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL
from types import TracebackType
from typing import Any, Self


class Stage:
    """Runs ``erasing.stage``; as a context manager it is gone on exit, and its daemon with it."""

    def __enter__(self) -> Self:
        # Who forks must have no other thread, and numpy's would be such.
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "erasing.stage"], env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, do: str, **about: Any) -> dict[str, Any]:
        """Have something done and wait for the answer."""
        self.tell(do, **about)
        return self.answer()

    def tell(self, do: str, **about: Any) -> None:
        """Have something done that is answered later."""
        assert self._process.stdin is not None
        print(json.dumps({"do": do, **about}), file=self._process.stdin, flush=True)

    def has_answered(self) -> bool:
        """Whether :meth:`answer` would return at once."""
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def answer(self) -> dict[str, Any]:
        """Return the next answer."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the stage has ended"
        answer: dict[str, Any] = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer

    @staticmethod
    def kill(pid: int) -> None:
        """End a daemon that is being traced; its end is what the stage waits for."""
        with suppress(ProcessLookupError):  # it was just ending
            os.kill(pid, SIGKILL)
