"""``python -m shelfd.daemon``: the daemon in this process."""

import gc
import os
import sys

gc.disable()  # what is imported stays: to look at it again and again is a tenth of the start; on again when READY
# No plugin of another package sees what is remembered, and all that are installed are not searched for one.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"

from shelfd.daemon.run import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
