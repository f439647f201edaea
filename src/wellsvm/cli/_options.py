"""Arguments and options of the commands as annotated types: a signature then has a line per option.

Defaults are the estimators' own, see `defaults_of`.
"""

from __future__ import annotations

import inspect
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from wellsvm import SemiSupervisedSVC
from wellsvm.cli._data import Format


class KernelName(StrEnum):
    """Kernels that a file of rows can be used with."""

    LINEAR = "linear"
    RBF = "rbf"
    POLY = "poly"
    SIGMOID = "sigmoid"


class LossName(StrEnum):
    """Loss functions."""

    AUTO = "auto"
    PAPER = "paper"
    HINGE = "hinge"
    SQUARED_HINGE = "squared_hinge"


class OracleName(StrEnum):
    """Ways to find the next label vector."""

    PAPER = "paper"
    CLIMB = "climb"


class SearchName(StrEnum):
    """Ways to search for one labelling."""

    ANNEALED = "annealed"
    LOCAL = "local"


def defaults_of(estimator: type) -> dict[str, Any]:
    """The default of every parameter: the options have the estimators' own."""
    return {name: parameter.default for name, parameter in inspect.signature(estimator).parameters.items()}


def _gamma(text: str) -> float | str:
    """A number, or a rule."""
    if text in ("mean", "scale", "auto"):
        return text
    return _number(text, "a number, 'mean', 'scale' or 'auto'")


def _balance(text: str) -> Any:
    """ "estimate", "labels", None, a share, or an interval."""
    if text in ("estimate", "labels", "none"):
        return None if text == "none" else text
    expected = "'estimate', 'labels', 'none', a share such as 0.4, or an interval such as 0.3,0.5"
    shares = [_number(part, expected) for part in text.split(",")]
    if len(shares) > 2:
        raise typer.BadParameter(f"{text!r} is not {expected}")
    return shares[0] if len(shares) == 1 else tuple(shares)


def _number(text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not {expected}") from None


Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="svmlight (also .gz, .bz2), .npz, .csv, .tsv or .parquet.", show_default=False),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model saved by 'wellsvm fit' or wellsvm.save.", show_default=False)
]
ModelOutput = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", show_default=False,
        help="Where to save the model (.skops). An existing file is replaced, at once and only after success.",
    ),
]  # fmt: skip
How = Annotated[Format, typer.Option("--format", help="How DATA is written; 'auto' goes by its suffix.")]
Label = Annotated[str, typer.Option("--label-column", metavar="NAME", help="CSV, Parquet: the column of the labels.")]
Bag = Annotated[
    str, typer.Option("--bag-column", metavar="NAME", help="CSV, Parquet: the column that names the bag of a row.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore-column", metavar="NAME", help="CSV, Parquet: a column that is no feature; may be given again."
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based", show_default=False,
        help="svmlight: where feature indices begin. [default: as in fit; there, at 0 if index 0 occurs]",
    ),
]  # fmt: skip
Unlabeled = Annotated[
    str,
    typer.Option(
        "--unlabeled",
        metavar="LABEL|none|auto",
        help="The label that marks an unlabeled row, besides empty cells and nan; 'none': all rows are labeled; "
        "'auto': 0 in an svmlight file with labels -1, 0 and 1, else -1 beside two or more other labels.",
    ),
]
PositiveClass = Annotated[
    str | None,
    typer.Option(
        "--positive-class",
        metavar="LABEL",
        show_default=False,
        help="The positive one of two classes; needed unless they are 0 and 1, -1 and 1, or false and true.",
    ),
]
Clusters = Annotated[int, typer.Option("--clusters", min=1, help="Number of clusters.")]
C = Annotated[float, typer.Option("--C", help="Price of the loss of a row with known label.")]
CUnlabeled = Annotated[
    float | None,
    typer.Option(
        "--C-unlabeled", show_default=False,
        help="Price of the loss of an unlabeled row; 0: the supervised SVM. "
        f"[default: {defaults_of(SemiSupervisedSVC)['C_unlabeled']}]",
    ),
]  # fmt: skip
CPositive = Annotated[
    float | None,
    typer.Option("--C-positive", show_default=False, help="Price of the loss of a positive bag. [default: 1]"),
]
CNegative = Annotated[
    float | None,
    typer.Option(
        "--C-negative", show_default=False, help="Price of the loss of a negative bag's instance. [default: 1]"
    ),
]
Context = Annotated[
    float | None,
    typer.Option("--context", show_default=False, help="Weight of the bag around an instance. [default: 0]"),
]
CVOfBags = Annotated[bool, typer.Option("--cv", help="Choose both prices, gamma and context by cross-validation.")]
CCluster = Annotated[float, typer.Option("--C", help="Price of the loss of a row.")]
CV = Annotated[bool, typer.Option("--cv", help="Choose C_unlabeled by cross-validation.")]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Folds of --cv.")]
KeyInstances = Annotated[int, typer.Option("--key-instances", help="Key instances of a positive bag.")]
Kernel = Annotated[KernelName, typer.Option("--kernel", help="Kernel.")]
Gamma = Annotated[
    Any,
    typer.Option("--gamma", parser=_gamma, metavar="NUMBER|mean|scale|auto", help="Width of rbf, poly and sigmoid."),
]
Degree = Annotated[float, typer.Option("--degree", help="Degree of poly.")]
Coef0 = Annotated[float, typer.Option("--coef0", help="Constant of poly and sigmoid.")]
Loss = Annotated[LossName, typer.Option("--loss", help="'auto', 'paper': hinge if linear, else squared hinge.")]
LossOfRows = Annotated[
    LossName,
    typer.Option(
        "--loss",
        help="'auto': hinge for sparse rows if linear, else squared hinge; 'paper': hinge if linear, else squared.",
    ),
]
Balance = Annotated[
    Any,
    typer.Option(
        "--balance", parser=_balance, metavar="estimate|labels|none|SHARE|LOW,HIGH",
        help="Share of positives among the unlabeled rows: estimated, as among the labeled ones, free, given, or "
        "between two.",
    ),
]  # fmt: skip
Search = Annotated[
    SearchName | None,
    typer.Option(
        "--search", show_default=False,
        help="How one labelling is searched for: 'annealed' raises the price of unlabeled rows step by step. "
        "[default: annealed; with --cv, local]",
    ),
]  # fmt: skip
Safe = Annotated[
    bool | None,
    typer.Option(
        "--safe/--no-safe", show_default=False,
        help="Leave the unlabeled rows out where the labeled ones speak against them; asked where the balance is "
        "estimated. [default: safe]",
    ),
]  # fmt: skip
BalanceOfClusters = Annotated[
    float,
    typer.Option("--balance", help="Most by which the sizes of two clusters differ, as a share of the rows."),
]
Starts = Annotated[int, typer.Option("--starts", help="Random halvings drawn to begin with.")]
Oracle = Annotated[OracleName, typer.Option("--oracle", help="How the next label vector is found.")]
Refine = Annotated[bool, typer.Option("--refine/--no-refine", help="Settle on one labelling after the relaxation.")]
Tol = Annotated[float, typer.Option("--tol", help="Tolerance relative to the objective.")]
MaxIter = Annotated[int, typer.Option("--max-iter", help="Most label vectors to generate.")]
MaxIterOfBags = Annotated[
    int | None,
    typer.Option(
        "--max-iter", show_default=False, help="Most label vectors to generate. [default: 50; 5 for the linear kernel]"
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Same data, options and seed: same model.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", help="Threads for several classes, clusters or folds; -1: one per core.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")]
PredictedBag = Annotated[
    str | None,
    typer.Option(
        "--bag-column",
        metavar="NAME",
        show_default=False,
        help="CSV, Parquet: the column of the bags. [default: as in fit]",
    ),
]
Predictions = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", show_default=False,
        help="Where to write: .csv, .parquet or .npy; an existing file is replaced. [default: CSV to standard output]",
    ),
]  # fmt: skip
