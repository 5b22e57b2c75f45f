"""Started by the server with the protocol's socket as file descriptor 3."""

import sys

from plinth_worker.worker import main

# The folder of this file: plugins must not find the worker's modules in their path.
del sys.path[0]

main()
