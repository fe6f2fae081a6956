"""Build the OpenAPI document from the route table, the structs and examples (`make openapi`)."""
