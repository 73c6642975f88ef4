"""What can be done with the memory: one function per method, in one table by name.

The table imports a module when one of its methods is first called.
"""

from shelfd.memory.methods.registry import USE_CASES

__all__ = ["USE_CASES"]
