"""The typer application: a new command is a function in a module of its own and one line here."""

from __future__ import annotations

import typer

from wellsvm._versions import show_versions
from wellsvm.cli.convert import convert
from wellsvm.cli.demo import demo
from wellsvm.cli.fit import fit
from wellsvm.cli.info import info
from wellsvm.cli.predict import predict

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)  # with a callback, even a single command keeps its name
def about(context: typer.Context) -> None:
    """Support vector machines for weakly labeled data."""
    if context.invoked_subcommand is None:
        print(context.get_help())


app.add_typer(fit, name="fit")
app.command("predict")(predict)
app.command("info")(info)
app.command("convert")(convert)
app.command("demo")(demo)
app.command("versions", help="Print what to paste into a bug report.")(show_versions)
