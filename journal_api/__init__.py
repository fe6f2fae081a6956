"""A trading journal over HTTP: tags, strategies, goals and the trades they hang on."""

__version__ = "0.1.0"
