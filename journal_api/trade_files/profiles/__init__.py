"""Files read by a profile: the format of a broker as a TOML document. `built_in/` has one file per format."""
