"""Kills a daemon at every step of jobs and conversations, and sees that each ends as if it had never been killed.

Of every kind of job there is one at least, and of conversations batches, rollups, rewinds, variants and a branch, too.
A step is a write, a sync, a rename: before each sync and rename and after it the daemon is killed once at least, with
SIGKILL. Compared with a run that nobody cut short are all notes and links, what the change log says was done and how
often, how the jobs ended, and the MEMORY.md. A trial is named as in ``tests/erasure.py``, of which this is a part.
"""

import sys

from erasing.conversations import TALKS
from erasing.jobs import JOBS
from erasure import main

if __name__ == "__main__":
    sys.exit(main(__doc__, [job.name for job in (*JOBS, *TALKS)], kills=800, races=0))
