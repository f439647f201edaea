"""``wellsvm predict``: a saved model applied to a file."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from wellsvm import Bags, load
from wellsvm._files import replacing
from wellsvm._fitted_runs import final_estimator
from wellsvm.bags import PerInstance
from wellsvm.cli import _options as option
from wellsvm.cli._console import check_output, stderr, told_in_one_line, warnings_as_lines
from wellsvm.cli._data import Format, Layout, Table, polars, read
from wellsvm.persistence import read_mark

__all__ = ["predict", "width_of"]

WRITTEN = (".csv", ".parquet", ".npy")


def predict(
    model_file: option.ModelFile,
    data: option.Data,
    output: option.Predictions = None,
    form: option.How = Format.AUTO,
    bag: option.PredictedBag = None,
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    memory: option.Memory = Layout.memory,
    quiet: option.Quiet = False,
) -> None:
    """Classes and decision values for the rows, or bags, of a file.

    Columns: 'prediction'; 'decision', or 'decision_<class>' for more than two classes; for bags also 'bag' and
    'instance', the number inside the bag, from 0, of the instance that decided, -1 where the bag is negative.
    Columns of CSV and Parquet are found by the names the model was trained with. svmlight rows may be narrower than
    the model; labels in DATA are not used.
    """
    if output is not None:
        if output.suffix.lower() not in WRITTEN:
            raise typer.BadParameter(f"--output: {output} must end in {', '.join(WRITTEN)}")
        check_output("--output", output, data, model_file)
    with told_in_one_line(), warnings_as_lines():
        model = load(model_file)
        layout = _layout(model, read_mark(model_file)["notes"].get("data"), bag, ignore or [], zero_based)
        layout = replace(layout, memory=memory)
        columns = _columns(model, read(data, form, layout))
        _write(columns, output)
    if output is not None and not quiet:
        classes, counts = np.unique(columns["prediction"], return_counts=True)
        found = ", ".join(f"{name}: {n:,}" for name, n in zip(classes.tolist(), counts))
        stderr().print(f"{counts.sum():,} predictions ({found}) in {output}", markup=False)


def width_of(model: Any) -> int | None:
    """Features that a model was trained with, if it tells."""
    first = model[0] if hasattr(model, "steps") else model
    if isinstance(first, PerInstance):
        first = first.transformer_
    return getattr(first, "n_features_in_", None)


def _layout(model: Any, noted: Any, bag: str | None, ignore: list[str], zero_based: bool | None) -> Layout:
    """Where the features are: as noted by ``wellsvm fit``, else as scikit-learn noted; options win."""
    noted = noted if isinstance(noted, dict) else {}
    names = noted.get("features") or getattr(model, "feature_names_in_", None)
    return Layout(
        bag=(bag or noted.get("bag") or "bag") if hasattr(final_estimator(model), "locate") else None,
        ignore=ignore,
        features=None if names is None else [str(name) for name in names],
        n_features=width_of(model),
        zero_based=noted.get("zero_based") if zero_based is None else zero_based,
    )


def _columns(model: Any, table: Table) -> dict[str, np.ndarray]:
    """The columns to write."""
    last, rows = final_estimator(model), table.X if table.groups is None else Bags(table.X, table.groups)
    names = {} if table.groups is None else {"bag": rows.names}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # columns were chosen by name
        if last is not model:
            rows = model[:-1].transform(rows)
        columns = {**names, "prediction": last.predict(rows)}
        if hasattr(last, "decision_function"):
            values = last.decision_function(rows)
            classes = getattr(last, "classes_", np.arange(values.shape[-1]))
            columns |= (
                {"decision": values}
                if values.ndim == 1
                else {f"decision_{name}": values[:, k] for k, name in enumerate(np.asarray(classes).tolist())}
            )
        if names:
            columns["instance"] = last.locate(rows)
    return {name: column.astype(str) if column.dtype == object else column for name, column in columns.items()}


def _write(columns: dict[str, np.ndarray], output: Path | None) -> None:
    if output is None:
        sys.stdout.write(polars().DataFrame(columns).write_csv())
        sys.stdout.flush()
        return
    with replacing(output) as file:
        if output.suffix.lower() == ".npy":
            records = np.empty(len(columns["prediction"]), [(name, column.dtype) for name, column in columns.items()])
            for name, column in columns.items():
                records[name] = column
            np.save(file, records, allow_pickle=False)
        elif output.suffix.lower() == ".parquet":
            polars().DataFrame(columns).write_parquet(file)
        else:
            polars().DataFrame(columns).write_csv(file)
