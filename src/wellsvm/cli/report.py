"""``wellsvm report``: one HTML page about a saved model."""

from __future__ import annotations

from typing import Any

import typer

from wellsvm.cli import _options as option
from wellsvm.cli._formats import Format, Layout

__all__ = ["report"]


def report(
    model_file: option.ModelFile,
    data: option.ReportedData = None,
    output: option.Page = ...,  # type: ignore[assignment]  # typer's word for "required"
    form: option.How = Format.AUTO,
    label: option.ReportedLabel = None,
    bag: option.PredictedBag = None,
    zero_based: option.PredictedZeroBased = None,
    title: option.Title = None,
) -> None:
    """Write an HTML page about a saved model.

    With DATA, such as the training file, the page shows how many rows were labeled, what was found for the others,
    which rows are least certain, and what the supervised SVM predicts. 'wellsvm fit --report' writes the same page.
    """
    from wellsvm import load
    from wellsvm import report as write
    from wellsvm.cli._console import check_output, stderr, told_in_one_line, warnings_as_lines
    from wellsvm.persistence import read_mark

    if output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"--output: {output} must end in .html")
    check_output("--output", output, model_file, *([data] if data else []))
    with told_in_one_line(), warnings_as_lines():
        model, notes = load(model_file), read_mark(model_file)["notes"].get("data")
        rows = {} if data is None else _rows(model, notes, data, form, Layout(label, bag, zero_based=zero_based))
        write(model, output, title=title, **rows)
    stderr().print(f"Report: {output}", markup=False)


def _rows(model: Any, notes: Any, data: Any, form: Format, asked: Layout) -> dict[str, Any]:
    """The rows of the file, and their labels where it has them."""
    from dataclasses import replace

    from wellsvm import Bags
    from wellsvm.cli._data import read
    from wellsvm.cli._prediction import as_dense_as_trained, layout_of

    noted = notes if isinstance(notes, dict) else {}
    layout = layout_of(model, noted, asked)
    if asked.label is None and noted.get("label") is not None:
        layout = replace(layout, label=noted["label"])
    table = as_dense_as_trained(model, read(data, form, layout))
    if table.groups is not None:
        return {"X": Bags(table.X, table.groups)}
    return {"X": table.X, "y": table.y}
