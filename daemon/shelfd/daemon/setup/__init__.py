"""``shelfd setup``: makes the daemon a service of the machine or of a user, and undoes that."""

from shelfd.daemon.setup.command import execute

__all__ = ["execute"]
