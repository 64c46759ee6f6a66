"""``python -m sureleaf``: the command line."""

from sureleaf.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
