"""``python -m fairlead`` is the command ``fairlead``."""

import os
import sys

from ._config import command


def main() -> None:
    path = command()
    if path is None:
        sys.exit("The command fairlead is not installed: build Fairlead, or put it on the PATH.")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
