"""What is known of models by name: context windows, and prices in US dollars for a million tokens.

Prices are those of the paid tier as published by Google, read in 2026; a model that is not here has no price.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.usage import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float
    """Also of thoughts."""
    cached: float
    """Of input tokens that came from the provider's cache."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """A price, and the price of requests whose input is longer than `LONG_INPUT` tokens."""

    usual: Price
    long: Price | None = None


LONG_INPUT = 200_000

_GEMINI_WINDOW = 1_048_576
_WINDOWS = {"gemini-": _GEMINI_WINDOW, "gemma-3": 131_072, "gemma-4": 256_000}
_WINDOWS |= {
    "gpt-5": 400_000,
    "gpt-4.1": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-oss": 131_072,
    "o3": 200_000,
    "o4": 200_000,
}
_TARIFFS = {
    "gemini-2.5-pro": Tariff(Price(1.25, 10.0, 0.125), Price(2.5, 15.0, 0.25)),
    "gemini-2.5-flash": Tariff(Price(0.30, 2.50, 0.03)),
    "gemini-2.5-flash-lite": Tariff(Price(0.10, 0.40, 0.01)),
    "gemini-3-pro-preview": Tariff(Price(2.0, 12.0, 0.2), Price(4.0, 18.0, 0.4)),
    "gemini-3.1-pro-preview": Tariff(Price(2.0, 12.0, 0.2), Price(4.0, 18.0, 0.4)),
    "gemini-3-flash-preview": Tariff(Price(0.50, 3.0, 0.05)),
}


def known_models() -> tuple[str, ...]:
    """Return the models whose price is known."""
    return tuple(_TARIFFS)


def context_window_of(model: str) -> int:
    """Return the model's context window in tokens; 0 where it is not known."""
    name = model.rpartition("/")[2]
    return next((window for prefix, window in _WINDOWS.items() if name.startswith(prefix)), 0)


def cost_of(model: str, usage: Usage) -> float | None:
    """Return what one request cost in US dollars, or none where the price is not known.

    The price depends on the size of the single request: add up costs, not usages.
    """
    tariff = _TARIFFS.get(model.rpartition("/")[2])
    if tariff is None:
        return None
    price = tariff.long if tariff.long is not None and usage.input_tokens > LONG_INPUT else tariff.usual
    cached = min(usage.cached_tokens, usage.input_tokens)
    fresh = usage.input_tokens - cached
    spoken = usage.output_tokens + usage.thought_tokens
    return (fresh * price.input + cached * price.cached + spoken * price.output) / 1_000_000
