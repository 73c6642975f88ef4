"""``python -m shelfd.daemon``: the daemon in this process."""

import gc
import sys

gc.disable()  # what is imported stays: to look at it again and again is a tenth of the start; on again when READY

from shelfd.daemon.run import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
