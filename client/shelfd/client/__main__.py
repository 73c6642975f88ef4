"""``python -m shelfd.client``: the ``shelfd`` command where no script is installed."""

from shelfd.client.cli import main

main()
