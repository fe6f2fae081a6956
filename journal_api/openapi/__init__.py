"""The OpenAPI document (openapi.json, written by `make openapi`), and the page that shows it."""
