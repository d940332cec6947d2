"""The logger of the package."""

from __future__ import annotations

import logging

#: Receives a message at the level INFO for each plan, simulation and resumed study, and WARNING for data that are ignored.
LOGGER = logging.getLogger("makespan")
LOGGER.addHandler(logging.NullHandler())
