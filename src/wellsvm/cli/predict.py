"""``wellsvm predict``: a saved model applied to a file."""

from __future__ import annotations

import typer

from wellsvm.cli import _options as option
from wellsvm.cli._formats import Format, Layout

__all__ = ["predict"]

WRITTEN = (".csv", ".parquet", ".npy")


def predict(
    model_file: option.ModelFile,
    data: option.Data,
    output: option.Predictions = None,
    form: option.How = Format.AUTO,
    bag: option.PredictedBag = None,
    keep: option.Keep = None,
    ignore: option.Ignore = None,
    zero_based: option.PredictedZeroBased = None,
    memory: option.Memory = Layout.memory,
    quiet: option.Quiet = False,
) -> None:
    """Predict the labels of the rows or bags in a file.

    The output has the columns given by --keep-column, then 'prediction' and 'decision' (or one 'decision_<class>' per
    class if there are more than two). For bags, it also has 'bag' and 'instance': the index of the deciding instance
    within the bag, starting at 0, or -1 if the bag is negative.

    Columns of CSV and Parquet files are found by the names that the model was trained with. svmlight rows may have
    fewer features than the model. Labels in DATA are ignored. In CSV output, names of classes and bags that a
    spreadsheet would run as a formula get a leading apostrophe.
    """
    if output is not None and output.suffix.lower() not in WRITTEN:
        raise typer.BadParameter(f"--output: {output} must end in {', '.join(WRITTEN)}")
    from wellsvm.cli._prediction import run

    asked = Layout(bag=bag, ignore=ignore or (), zero_based=zero_based, keep=keep or (), memory=memory)
    run(model_file, data, output, form, asked, quiet)
