"""A model behind an endpoint: which adapter speaks to it, where, and with which key."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from loopspan.errors import ConfigurationError
from loopspan.messages import Endpoint, Price
from loopspan.providers.adapter import Adapter
from loopspan.secrets import Secret


@dataclass(frozen=True, slots=True)
class Model:
    """A model behind an endpoint."""

    adapter: Adapter
    name: str
    base_url: str
    key: Secret | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(
                f"base_url {self.base_url!r} is no http address; give one like 'https://host/v1'"
            )
        if parts.username or parts.password:
            raise ConfigurationError(
                "base_url holds a user or password; take them out and pass the key as `key`"
            )
        if not self.name:
            raise ConfigurationError("the model has no name; write 'provider:model'")

    @property
    def spec(self) -> str:
        """The model as `provider:model`."""
        return f"{self.adapter.name}:{self.name}"

    def endpoint(self, price: Price | None = None) -> Endpoint:
        """Return who answers, as far as traces tell it; `price` wins over the price table."""
        parts = urlsplit(self.base_url)
        return Endpoint(
            provider=self.adapter.provider_name,
            address=parts.hostname,
            port=parts.port or {"http": 80, "https": 443}.get(parts.scheme),
            price_provider=self.adapter.price_provider,
            price=price,
            system_apart=self.adapter.system_apart,
        )
