"""What ``wellsvm predict`` does: reads the rows, applies the model, writes the columns."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from wellsvm import Bags, load
from wellsvm._escape import as_cell, shown
from wellsvm._files import replacing
from wellsvm._fitted_runs import final_estimator
from wellsvm.bags import PerInstance
from wellsvm.cli._console import check_output, stderr, told_in_one_line, warnings_as_lines
from wellsvm.cli._data import Table, read
from wellsvm.cli._formats import Format, Layout
from wellsvm.cli._frames import polars
from wellsvm.persistence import read_mark
from wellsvm.rows.blocks import Blocks

__all__ = ["as_dense_as_trained", "layout_of", "run", "width_of"]


def run(model_file: Path, data: Path, output: Path | None, form: Format, asked: Layout, quiet: bool) -> None:
    """Do it. ``asked`` is what the options say of the file; the rest is as the model was trained."""
    if output is not None:
        check_output("--output", output, data, model_file)
    with told_in_one_line(), warnings_as_lines():
        model = load(model_file)
        layout = layout_of(model, read_mark(model_file)["notes"].get("data"), asked)
        columns = _columns(model, as_dense_as_trained(model, read(data, form, layout)))
        _write(columns, output)
    if output is not None and not quiet:
        classes, counts = np.unique(columns["prediction"], return_counts=True)
        found = ", ".join(f"{shown(name)}: {n:,}" for name, n in zip(classes.tolist(), counts))
        stderr().print(f"{counts.sum():,} predictions ({found}) in {shown(output)}", markup=False)


def width_of(model: Any) -> int | None:
    """Features that a model was trained with, if it tells."""
    first = model[0] if hasattr(model, "steps") else model
    if isinstance(first, PerInstance):
        first = first.transformer_
    return getattr(first, "n_features_in_", None)


def layout_of(model: Any, noted: Any, asked: Layout) -> Layout:
    """Where the features are: as noted by ``wellsvm fit``, else as scikit-learn noted; what is asked for wins."""
    noted = noted if isinstance(noted, dict) else {}
    names = noted.get("features") or getattr(model, "feature_names_in_", None)
    return Layout(
        label=asked.label,
        bag=(asked.bag or noted.get("bag") or "bag") if hasattr(final_estimator(model), "locate") else None,
        ignore=asked.ignore,
        features=None if names is None else [str(name) for name in names],
        n_features=width_of(model),
        zero_based=noted.get("zero_based") if asked.zero_based is None else asked.zero_based,
        keep=asked.keep,
        memory=asked.memory,
    )


def as_dense_as_trained(model: Any, table: Table) -> Table:
    """Sparse rows, of an svmlight file, as dense ones where the model takes the mean of each column off."""
    first = model[0] if hasattr(model, "steps") else model
    first = getattr(first, "transformer_", first)
    centred = getattr(first, "with_mean", False) and sparse.issparse(table.X)
    return replace(table, X=table.X.toarray()) if centred else table


def _columns(model: Any, table: Table) -> dict[str, np.ndarray]:
    """The columns to write."""
    last, rows = final_estimator(model), table.X if table.groups is None else Bags(table.X, table.groups)
    names = {} if table.groups is None else {"bag": rows.names}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # columns were chosen by name
        if last is not model:
            if isinstance(table.X, Blocks):
                raise ValueError(
                    "the model scales its columns, which is not possible for rows in a folder: predict on a file, or "
                    "train with --no-scale"
                )
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
    texts = {name: column.astype(str) if column.dtype == object else column for name, column in columns.items()}
    return {**_kept(table, rows if names else None, set(texts)), **texts}


def _kept(table: Table, bags: Any, taken: set[str]) -> dict[str, np.ndarray]:
    """The columns to copy: one value per row, or, of bags, the one that all rows of a bag share."""
    for name in taken & set(table.kept):
        raise ValueError(f"--keep-column {name!r}: the output already has a column with that name; rename it in DATA")
    kept = {name: series.to_numpy() for name, series in table.kept.items()}
    if bags is None:
        return kept
    for name, values in kept.items():
        parts = np.split(values[np.argsort(bags.bag_of, kind="stable")], bags.offsets[1:-1])
        if any(len(set(part.tolist())) > 1 for part in parts):
            raise ValueError(
                f"--keep-column {name!r} has different values within a bag, but there is only one prediction per bag"
            )
        kept[name] = np.array([part[0] for part in parts])
    return kept


def _write(columns: dict[str, np.ndarray], output: Path | None) -> None:
    if output is None:
        text = polars().DataFrame(_cells(columns)).write_csv()
        sys.stdout.write(shown(text, keep="\n") if sys.stdout.isatty() else text)
        sys.stdout.flush()
        return
    try:
        _write_file(columns, output)
    except polars().exceptions.PolarsError as error:  # how it tells of a full disk
        raise OSError(f"{output} cannot be written: {next(iter(str(error).splitlines()), '')}") from error


def _cells(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The columns for a CSV file, which may be opened by a spreadsheet."""
    return {
        name: np.array([as_cell(text) for text in column.tolist()]) if column.dtype.kind == "U" else column
        for name, column in columns.items()
    }


def _write_file(columns: dict[str, np.ndarray], output: Path) -> None:
    with replacing(output) as file:
        if output.suffix.lower() == ".npy":
            columns = {name: np.asarray(c, dtype=str) if c.dtype == object else c for name, c in columns.items()}
            records = np.empty(len(columns["prediction"]), [(name, column.dtype) for name, column in columns.items()])
            for name, column in columns.items():
                records[name] = column
            np.save(file, records, allow_pickle=False)
        elif output.suffix.lower() == ".parquet":
            polars().DataFrame(columns).write_parquet(file)
        else:
            # as text first: polars 1.34 says nothing where a full disk cuts a file short
            file.write(polars().DataFrame(_cells(columns)).write_csv().encode())
