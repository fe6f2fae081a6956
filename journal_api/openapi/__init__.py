"""The OpenAPI document, which `make openapi` writes to openapi.json, and the pages that show it."""
