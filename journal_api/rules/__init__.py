"""Domain rules as pure functions, without SQL or HTTP."""
