"""Errors that nobody foresaw: the traceback goes to the log, one line to the person."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

logger = logging.getLogger("maple-chat")


def unforeseen(error: Exception, log: Path, where: str) -> str:
    """Write the traceback down; the line for a person says where."""
    write_to(log)
    logger.error(where, exc_info=error)
    return f"Something went wrong here ({type(error).__name__}): {log} tells more"


def write_to(log: Path) -> None:
    """Let the logger write into that file, and nowhere else."""
    if any(isinstance(h, RotatingFileHandler) and Path(h.baseFilename) == log for h in logger.handlers):
        return
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    writer = RotatingFileHandler(log, maxBytes=1_000_000, backupCount=1, delay=True)
    writer.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logger.addHandler(writer)
    logger.propagate = False
