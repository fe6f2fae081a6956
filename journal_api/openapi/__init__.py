"""The OpenAPI document, its examples, and the page at /docs."""
