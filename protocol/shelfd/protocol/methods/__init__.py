"""The methods of the wire contract, one module per subject, which the registry imports when it needs them."""

__all__: list[str] = []
