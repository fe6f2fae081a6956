"""`python forked.py ADDRESS ARGUMENTS`: a process of `python -m journal_api` that is forked at that address.

For a program that starts the command itself, as the SDK of MCP does: the fork has the standard streams of
this process, which ends as the fork does.
"""

import os
import sys

import forks

if __name__ == "__main__":
    process = forks.start(sys.argv[1], sys.argv[2:], os.environ, [0, 1, 2])
    os.closerange(0, 2)
    os._exit(process.wait(10**6) & 255)
