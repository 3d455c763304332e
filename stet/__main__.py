"""The command `stet`: answers at once what needs no application, and hands the rest to `app.cli`."""

from __future__ import annotations

import sys

from stet import __version__


def main() -> int:
    """Run the command line `sys.argv` and return the exit code (interface.md section 1)."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        print(f"stet {__version__}")
        return 0
    from app.cli import main as run  # late: the fast path above must not pay for it

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
