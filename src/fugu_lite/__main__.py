"""`python -m fugu_lite` is the command line."""

from fugu_lite.cli import main

if __name__ == "__main__":
    main()
