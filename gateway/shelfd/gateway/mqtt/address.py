"""Where the broker is, from ``mqtt.url``; kept apart from the library so that reading a setting loads none."""

import ssl
from typing import NamedTuple
from urllib.parse import urlsplit

_PORTS = {"mqtt": 1883, "mqtts": 8883}


class Address(NamedTuple):
    """A broker's address.

    Attributes:
        user: As whom to log in; None for a broker that asks nobody.
    """

    host: str
    port: int
    is_tls: bool = False
    user: str | None = None

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Take ``mqtt[s]://[user@]host[:port]`` apart.

        Raises:
            ValueError: If it is not of this form; the message does not repeat it.
        """
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname or parts.password is not None:
            raise ValueError("must be mqtt[s]://[user@]host[:port], without a password")
        return cls(parts.hostname, parts.port or _PORTS[parts.scheme], parts.scheme == "mqtts", parts.username)

    def __str__(self) -> str:
        scheme, user = "mqtts" if self.is_tls else "mqtt", f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{user}{host}:{self.port}"


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Return the TLS settings for a broker whose certificate *ca_file*, or one of the system's, vouches for.

    Raises:
        OSError: If the file cannot be read or holds no certificate.
    """
    context = ssl.create_default_context(cafile=ca_file or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
