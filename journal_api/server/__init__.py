"""One process: uvicorn with its protocol, its log, its parent."""
