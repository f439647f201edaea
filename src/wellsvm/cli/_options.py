"""Arguments and options of the commands as annotated types: a signature then has a line per option.

Only light modules are imported here: ``--help`` reads all of this.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from wellsvm.cli._defaults import defaults_of
from wellsvm.cli._formats import Format

ROWS = defaults_of("wellsvm.estimators.semi_supervised", "SemiSupervisedSVC")
BAGS = defaults_of("wellsvm.estimators.multi_instance", "MultiInstanceSVC")
CLUSTERS = defaults_of("wellsvm.estimators.clustering", "MaxMarginClustering")
FOLDS = defaults_of("wellsvm.estimators.semi_supervised_cv", "SemiSupervisedSVCCV")["cv"]


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
    """Ways to search for one labeling."""

    AUTO = "auto"
    SMOOTH = "smooth"
    ANNEALED = "annealed"
    LOCAL = "local"


def _gamma(text: str) -> float | str:
    """A number, or a rule."""
    if text in ("mean", "scale", "auto"):
        return text
    return number(text, "a number, 'mean', 'scale' or 'auto'")


def share_or_rule(text: str) -> Any:
    """ "estimate", None for "none", a share, or an interval of shares."""
    if text in ("estimate", "none"):
        return None if text == "none" else text
    expected = "'estimate', 'none', a share such as 0.4, or an interval such as 0.3,0.5"
    shares = [number(part, expected) for part in text.split(",")]
    if len(shares) > 2:
        raise typer.BadParameter(f"{text!r} is not {expected}")
    return shares[0] if len(shares) == 1 else tuple(shares)


def _scaled(text: str) -> float | str:
    """A penalty, or the rule that scales it."""
    return text if text == "scale" else number(text, "a number or 'scale'")


def _clusters_balance(text: str) -> float | str:
    """A share, or "auto"."""
    return text if text == "auto" else number(text, "a share such as 0.3, or 'auto'")


def number(text: str, expected: str) -> float:
    """What was typed as a number; ``expected`` is for the error."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not {expected}") from None


Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", show_default=False,
        help="svmlight (also .gz, .bz2), .npz, .csv, .tsv or .parquet; or a folder made by 'wellsvm convert'.",
    ),
]  # fmt: skip
RowsFolder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="The folder to create; it must not contain rows yet.", show_default=False),
]
ConvertedLabel = Annotated[
    str | None,
    typer.Option(
        "--label-column", metavar="NAME", show_default=False, help="CSV, Parquet: the column with the labels."
    ),
]
ConvertedBag = Annotated[
    str | None,
    typer.Option(
        "--bag-column", metavar="NAME", show_default=False,
        help="CSV, Parquet: the column with the bag of each row; svmlight: any name, to keep the 'qid:'.",
    ),
]  # fmt: skip
Single = Annotated[bool, typer.Option("--float32", help="Write values in single precision, which halves the size.")]
BlockRows = Annotated[
    int | None,
    typer.Option("--block-rows", min=1, show_default=False, help="Rows per block. [default: blocks of about 128 MB]"),
]
Memory = Annotated[
    str,
    typer.Option("--memory", metavar="SIZE", help="If DATA is a folder: memory for rows that are copied from it."),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model saved by 'wellsvm fit' or wellsvm.save.", show_default=False)
]
ModelOutput = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", show_default=False,
        help="Where to save the model, as FILE.skops. An existing file is replaced only after success.",
    ),
]  # fmt: skip
How = Annotated[Format, typer.Option("--format", help="Format of DATA; 'auto' uses the file name's suffix.")]
Label = Annotated[str, typer.Option("--label-column", metavar="NAME", help="CSV, Parquet: the column with the labels.")]
ReportedLabel = Annotated[
    str | None,
    typer.Option(
        "--label-column", metavar="NAME", show_default=False,
        help="CSV, Parquet: the column with the labels. [default: the same as in fit]",
    ),
]  # fmt: skip
Bag = Annotated[
    str, typer.Option("--bag-column", metavar="NAME", help="CSV, Parquet: the column with the bag of each row.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore-column", metavar="NAME", help="CSV, Parquet: a non-feature column; repeatable."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep-column", metavar="NAME",
        help="CSV, Parquet: a column to copy to the output, such as an identifier; repeatable.",
    ),
]  # fmt: skip
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based", show_default=False,
        help="svmlight: whether feature indices start at 0 or 1. [default: 0 if index 0 occurs, else 1]",
    ),
]  # fmt: skip
PredictedZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based", show_default=False,
        help="svmlight: whether feature indices start at 0 or 1. [default: the same as in training]",
    ),
]  # fmt: skip
Scale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale", show_default=False,
        help="Scale the features, and store the scaling in the model: dense columns to mean 0 and variance 1, sparse "
        "ones to at most 1. [default: dense tables are scaled, sparse ones are not]",
    ),
]  # fmt: skip
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", show_default=False, help="Also write an HTML page about the fit."),
]
Unlabeled = Annotated[
    str,
    typer.Option(
        "--unlabeled",
        metavar="LABEL|none|auto",
        help="The label that marks an unlabeled row, in addition to empty cells and nan. 'none': all rows are labeled. "
        "'auto': 0 in an svmlight file with labels -1, 0 and 1, else the number -1 if there are two or more others. "
        "Among labels that are text, '-1' and 'NA' are classes unless you name them here.",
    ),
]
PositiveClass = Annotated[
    str | None,
    typer.Option(
        "--positive-class",
        metavar="LABEL",
        show_default=False,
        help="The label of positive bags; required unless the labels are 0 and 1, -1 and 1, or false and true.",
    ),
]
Clusters = Annotated[int, typer.Option("--clusters", min=1, help="Number of clusters.")]
MustLink = Annotated[
    Path | None,
    typer.Option(
        "--must-link", exists=True, dir_okay=False, show_default=False,
        help="Text file with two row numbers in each line, starting at 0: rows that must share a cluster.",
    ),
]  # fmt: skip
CannotLink = Annotated[
    Path | None,
    typer.Option(
        "--cannot-link", exists=True, dir_okay=False, show_default=False,
        help="The same for rows that must not share a cluster.",
    ),
]  # fmt: skip
C = Annotated[float, typer.Option("--C", help="Penalty on the loss of a labeled row.")]
CUnlabeled = Annotated[
    float | None,
    typer.Option(
        "--C-unlabeled", show_default=False,
        help="Penalty on the loss of an unlabeled row; 0 gives the supervised SVM. [default: 0.2 for the squared hinge "
        "loss, 0.5 for the hinge loss, less for rows longer than 1]",
    ),
]  # fmt: skip
CPositive = Annotated[
    float | None,
    typer.Option("--C-positive", show_default=False, help="Penalty on the loss of a positive bag. [default: 1]"),
]
CNegative = Annotated[
    float | None,
    typer.Option(
        "--C-negative", show_default=False, help="Penalty on the loss of an instance of a negative bag. [default: 1]"
    ),
]
Context = Annotated[
    float | None,
    typer.Option("--context", show_default=False, help="Weight of the whole bag in the kernel. [default: 0]"),
]
CVOfBags = Annotated[
    bool, typer.Option("--cv", help="Choose both penalties, gamma and the context by cross-validation.")
]
COfRow = Annotated[float, typer.Option("--C", help="Penalty on the loss of a row.")]
CCluster = Annotated[
    Any, typer.Option("--C", parser=_scaled, metavar="NUMBER|scale", help="Penalty on the loss of a row.")
]
CV = Annotated[bool, typer.Option("--cv", help="Choose the penalty on unlabeled rows by cross-validation.")]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Number of folds for --cv.")]
KeyInstances = Annotated[int, typer.Option("--key-instances", help="Number of key instances per positive bag.")]
Kernel = Annotated[KernelName, typer.Option("--kernel", help="Kernel.")]
Gamma = Annotated[
    Any,
    typer.Option(
        "--gamma", parser=_gamma, metavar="NUMBER|mean|scale|auto",
        help="Coefficient of rbf, poly and sigmoid; a larger value makes the kernel narrower. 'mean': one over the "
        "mean squared distance between rows.",
    ),
]  # fmt: skip
Degree = Annotated[float, typer.Option("--degree", help="Degree of poly.")]
Coef0 = Annotated[float, typer.Option("--coef0", help="Constant of poly and sigmoid.")]
Loss = Annotated[LossName, typer.Option("--loss", help="'auto', 'paper': hinge if linear, otherwise squared hinge.")]
LossOfRows = Annotated[
    LossName,
    typer.Option(
        "--loss",
        help="'auto': hinge for sparse rows if linear, otherwise squared hinge; 'paper': hinge if linear, otherwise "
        "squared.",
    ),
]
Balance = Annotated[
    list[str] | None,
    typer.Option(
        "--balance", metavar="estimate|labels|none|SHARE|LOW,HIGH|CLASS=SHARE", show_default=False,
        help="Class shares among the unlabeled rows: estimated, those of the labels, or not constrained. Or set them: "
        "the share of the second of two classes, a range, or one --balance CLASS=SHARE (or CLASS=LOW,HIGH) for each "
        f"class. [default: {ROWS['balance']}]",
    ),
]  # fmt: skip
Search = Annotated[
    SearchName | None,
    typer.Option(
        "--search", show_default=False,
        help="How to search for one labeling. 'annealed' relabels rows while the penalty on unlabeled rows rises step "
        "by step, 'local' at the final penalty only. 'smooth' moves the boundary instead while the penalty rises. "
        "[default: annealed; with --cv, auto]",
    ),
]  # fmt: skip
Safe = Annotated[
    bool | None,
    typer.Option(
        "--safe/--no-safe", show_default=False,
        help="Ignore the unlabeled rows if they do not help to predict held-out labels. This is only checked if the "
        "balance is estimated. [default: safe]",
    ),
]  # fmt: skip
BalanceOfClusters = Annotated[
    Any,
    typer.Option(
        "--balance", parser=_clusters_balance, metavar="SHARE|auto",
        help="Maximum size difference of two clusters, as a share of the rows; 'auto' estimates the sizes.",
    ),
]  # fmt: skip
Starts = Annotated[int, typer.Option("--starts", help="Number of random starts, and of runs of k-means.")]
Oracle = Annotated[OracleName, typer.Option("--oracle", help="How the next label vector is found.")]
Refine = Annotated[bool, typer.Option("--refine/--no-refine", help="Settle on one labeling after the relaxation.")]
Tol = Annotated[float, typer.Option("--tol", help="Tolerance, relative to the objective.")]
MaxIter = Annotated[int, typer.Option("--max-iter", help="Maximum number of label vectors.")]
MaxIterOfBags = Annotated[
    int | None,
    typer.Option(
        "--max-iter",
        show_default=False,
        help="Maximum number of label vectors. [default: 50; for the linear kernel 5, or 1 if there are many rows]",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=2**32 - 1, help="The same data, options and seed give the same model.")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", help="Threads for classes, clusters or folds; -1: one per core.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
PredictedBag = Annotated[
    str | None,
    typer.Option(
        "--bag-column", metavar="NAME", show_default=False,
        help="CSV, Parquet: the column with the bag of each row. [default: the same as in fit]",
    ),
]  # fmt: skip
Predictions = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", show_default=False,
        help="Where to write: .csv, .parquet or .npy; an existing file is replaced. [default: CSV to standard output]",
    ),
]  # fmt: skip
Page = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to write the page (.html)."),
]
ReportedData = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA]", show_default=False,
        help="The training data, or other rows with the same columns; the page then shows the predictions for them.",
    ),
]  # fmt: skip
Title = Annotated[str | None, typer.Option("--title", show_default=False, help="Heading of the page.")]
Picture = Annotated[Path, typer.Option("--output", help="Where to save the picture.")]
Splits = Annotated[
    int | None,
    typer.Option(
        "--splits", min=1, max=1000, help="Random splits per pair of digits; 2, or 1 without compiled kernels."
    ),
]
DemoSeed = Annotated[int, typer.Option("--seed", min=0, max=2**31, help="Seed of the splits.")]
