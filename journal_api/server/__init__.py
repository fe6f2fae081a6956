"""One server process: uvicorn with a guarded protocol, the log, and the mode for a parent process."""
