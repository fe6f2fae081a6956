"""HTTP in, HTTP out: the route table, and a module a resource."""
