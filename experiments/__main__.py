"""``python -m experiments COMMAND``, from the folder of the repository."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments import campaign
from experiments.arguments import say
from experiments.bench import command as bench_command
from experiments.paper import command as paper_command
from experiments.studies import command as study_command

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Run a command. Wrong usage ends with exit code 2, Ctrl-C with 130."""
    parser = argparse.ArgumentParser(prog="python -m experiments")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (paper_command, bench_command, study_command, campaign):
        command.add_command(commands, RESULTS)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except ValueError as error:  # a name that is not known, a page without a place, a damaged file
        parser.error(str(error))
    except KeyboardInterrupt:
        say("interrupted; what is done is kept, and the same command goes on")
        sys.exit(130)


if __name__ == "__main__":
    main()
