"""Puts the daemon together: settings, logging, life cycle and ``python -m shelfd.daemon``."""

# Importing any part of the daemon imports this first, and so structlog the way our logging wants it loaded.
from shelfd.daemon.logging import configure as configure_logging

__all__ = ["configure_logging"]
