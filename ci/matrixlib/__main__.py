"""The program: python3 matrix.pyz, python3 -m matrixlib, or what pip installs."""

import os
import sys


def main() -> int:
    if sys.version_info < (3, 11):
        sys.stderr.write("matrix: needs Python 3.11 or newer, this is %d.%d\n" % sys.version_info[:2])
        return 2
    if not sys.flags.utf8_mode:  # Logs and reports are UTF-8, whatever the terminal's encoding.
        os.execv(sys.executable, [sys.executable, "-X", "utf8"] + sys.orig_argv[1:])
    from .cli import main as command_line
    from .screen import to_nowhere
    try:
        return command_line(sys.argv[1:])
    finally:
        for out in (sys.stdout, sys.stderr):  # If nobody reads what is left in one, Python would end with 120.
            try:
                out.flush()
            except OSError:
                to_nowhere(out)


if __name__ == "__main__":
    sys.exit(main())
