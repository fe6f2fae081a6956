"""Picture files without their metadata: every format is cut up and put together again, and never decoded."""
