"""The commands, one module per group."""

__all__: list[str] = []
