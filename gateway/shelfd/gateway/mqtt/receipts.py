"""Acknowledgements to the broker: in the order of arrival, whatever ends first."""

from collections import deque

from shelfd.gateway.mqtt.link import Arrived, Link


class Receipt:
    """The acknowledgement of one message, not given yet."""

    __slots__ = ("_owner", "is_due", "message")

    def __init__(self, owner: "Receipts", message: Arrived) -> None:
        self._owner = owner
        self.message = message
        self.is_due = False

    def settle(self) -> None:
        """Let it be given: the message need not come again."""
        self.is_due = True
        self._owner.give()


class Receipts:
    """The acknowledgements of one link. Those of a link that is gone are lost, and their messages come again."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._open: deque[Receipt] = deque()

    def expect(self, message: Arrived) -> Receipt:
        """Take the place of *message* in the order."""
        receipt = Receipt(self, message)
        if message.qos:
            self._open.append(receipt)
        return receipt

    def give(self) -> None:
        """Acknowledge from the oldest on what is due."""
        while self._open and self._open[0].is_due:
            self._link.acknowledge(self._open.popleft().message)
