"""``python -m shelfd.daemon``: the daemon in this process."""

import sys

from shelfd.daemon.run import main

if __name__ == "__main__":
    sys.exit(main())
