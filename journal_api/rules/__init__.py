"""Pure rules: what follows from what, without SQL or HTTP."""
