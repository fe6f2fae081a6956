"""The formats of files of trades, a module each."""
