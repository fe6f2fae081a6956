"""The route table, and a module of handlers for each resource."""
