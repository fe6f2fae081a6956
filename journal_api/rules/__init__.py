"""Small rules of one resource as pure functions, without SQL or HTTP."""
