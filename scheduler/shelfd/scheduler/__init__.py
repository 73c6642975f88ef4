"""When the daemon tends its shelves by itself: cron, heartbeat and the ledger of runs."""

__all__: list[str] = []
