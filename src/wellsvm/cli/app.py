"""The typer application: a new command is a function in a module of its own and one line here.

A command's module is imported with its signature; what it works with is imported when it runs: ``--help`` is quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from wellsvm.cli import _options as option
from wellsvm.cli.convert import convert
from wellsvm.cli.fit_weak import fit
from wellsvm.cli.info import info
from wellsvm.cli.predict import predict
from wellsvm.cli.report import report

__all__ = ["app"]


class FitFirst(TyperGroup):
    """Lists the commands in the order in which they are used; typer itself would put groups last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, ``fit`` first."""
        return sorted(super().list_commands(ctx), key=lambda name: name != "fit")


app = typer.Typer(cls=FitFirst, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _print_version(asked: bool) -> None:
    if asked:
        from wellsvm import __version__

        print(f"wellsvm {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)  # with a callback, even a single command keeps its name
def about(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Support vector machines for weakly labeled data."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def demo(
    output: option.Picture = Path("wellsvm-demo.png"), splits: option.Splits = None, seed: option.DemoSeed = 0
) -> None:
    """Show how much unlabeled rows help on digits.

    Trains on all pairs of handwritten digits with a handful of labels, and draws a figure that compares a supervised
    SVM, scikit-learn's SelfTrainingClassifier and LabelSpreading, and SemiSupervisedSVC.
    """
    from wellsvm.cli.demo import demo as run

    run(output, splits, seed)


def versions() -> None:
    """Print the versions that a bug report needs."""
    from wellsvm import show_versions

    show_versions()


app.add_typer(fit, name="fit")
app.command("predict")(predict)
app.command("info")(info)
app.command("report")(report)
app.command("convert")(convert)
app.command("demo")(demo)
app.command("versions")(versions)
