"""Turn the lower bounds of a pyproject.toml on standard input into pip's constraints on standard output."""

import sys
import tomllib

project = tomllib.load(sys.stdin.buffer)["project"]
for requirement in [*project["dependencies"], *project["optional-dependencies"]["mcp"]]:
    sys.stdout.write(requirement.replace(">=", "==", 1) + "\n")
