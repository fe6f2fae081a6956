"""Turn the lower bounds of a pyproject.toml on standard input into pip's constraints on standard output."""

import sys
import tomllib

for requirement in tomllib.load(sys.stdin.buffer)["project"]["dependencies"]:
    sys.stdout.write(requirement.replace(">=", "==", 1) + "\n")
