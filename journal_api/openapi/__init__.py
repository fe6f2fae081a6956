"""The OpenAPI document, read off the route table, its examples, and /docs."""
