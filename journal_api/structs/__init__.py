"""Request bodies, queries and response objects, and the validation rules within one body."""
