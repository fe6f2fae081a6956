"""A self-hosted trading journal with an HTTP API: trades, tags, strategies and goals."""

__version__ = "0.4.0"
