"""``wellsvm fit`` for other weak labels: positives only, proportions of groups, noisy labels, candidates."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wellsvm.cli import _options as option
from wellsvm.cli._defaults import defaults_of
from wellsvm.cli._formats import Format, Layout
from wellsvm.cli.fit import fit

__all__ = ["candidates", "fit", "noisy_labels", "positive_unlabeled", "proportions"]

POSITIVE = defaults_of("wellsvm.estimators.positive_unlabeled", "PositiveUnlabeledSVC")
SHARES = defaults_of("wellsvm.estimators.proportions", "ProportionSVC")
NOISY = defaults_of("wellsvm.estimators.noisy_labels", "NoisyLabelSVC")
CANDIDATES = defaults_of("wellsvm.estimators.candidate_labels", "CandidateLabelSVC")


def _noise(text: str) -> Any:
    return "cv" if text == "cv" else option.number(text, "'cv' or a share such as 0.1")


def _price(text: str) -> Any:
    return "cv" if text == "cv" else option.number(text, "'cv' or a number such as 2")


Positive = Annotated[
    str | None,
    typer.Option(
        "--positive-class", metavar="LABEL", show_default=False,
        help="The label of the positive rows; all others are unlabeled. [default: the only label, or 1]",
    ),
]  # fmt: skip
PositivesBalance = Annotated[
    Any,
    typer.Option(
        "--balance", parser=option.share_or_rule, metavar="estimate|none|SHARE|LOW,HIGH",
        help="Share of positives among the unlabeled rows: estimated, not constrained, a share, or an interval.",
    ),
]  # fmt: skip
Group = Annotated[str, typer.Option("--group-column", metavar="NAME", help="CSV, Parquet: the group of a row.")]
Share = Annotated[
    str,
    typer.Option(
        "--share-column", metavar="NAME",
        help="CSV, Parquet: the share of class 1 in the group of a row, the same for all its rows.",
    ),
]  # fmt: skip
Slack = Annotated[float, typer.Option("--slack", help="Maximum error of a share.")]
Noise = Annotated[
    Any,
    typer.Option(
        "--noise",
        parser=_noise,
        metavar="cv|SHARE",
        help="Maximum share of wrong labels: a number, or 'cv' to choose it by cross-validation.",
    ),
]
CNoisy = Annotated[
    Any,
    typer.Option(
        "--C", parser=_price, metavar="cv|NUMBER",
        help="Penalty on the loss of a row: a number, or 'cv' to choose it by cross-validation.",
    ),
]  # fmt: skip
Suspects = Annotated[int, typer.Option("--suspects", min=0, help="Number of suspicious data rows to print.")]
Separator = Annotated[str, typer.Option("--separator", help="Separator between the candidates of a row.")]
CPositives = Annotated[float, typer.Option("--C-unlabeled", help="Penalty on the loss of an unlabeled row.")]


@fit.command("positive-unlabeled")
def positive_unlabeled(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    label: option.Label = "label",
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    scale: option.Scale = None,
    positive_class: Positive = None,
    C: option.C = POSITIVE["C"],
    C_unlabeled: CPositives = POSITIVE["C_unlabeled"],
    balance: PositivesBalance = POSITIVE["balance"],
    kernel: option.Kernel = POSITIVE["kernel"],
    gamma: option.Gamma = POSITIVE["gamma"],
    tol: option.Tol = POSITIVE["tol"],
    seed: option.Seed = 0,
    report: option.Report = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Train a classifier on positive and unlabeled rows.

    Unlabeled rows have an empty label cell in CSV and Parquet, or the label nan. If positives have the label 1, rows
    with the label 0 or -1 are unlabeled too.
    """
    import numpy as np

    from wellsvm import PositiveUnlabeledSVC
    from wellsvm._class_shares import shares_told
    from wellsvm.cli._training import Job, as_label, labels_of

    model = PositiveUnlabeledSVC(
        C=C, C_unlabeled=C_unlabeled, balance=balance, kernel=kernel.value, gamma=gamma, tol=tol, random_state=seed
    )

    def train(model: Any, table: Any) -> dict[str, Any]:
        y = labels_of(table)
        model.set_params(positive_class=None if positive_class is None else as_label(positive_class, y))
        model.fit(table.X, y)
        cells = np.ma.getdata(y) == model.classes_[1]
        return {
            "labeled": np.count_nonzero(cells & ~np.ma.getmaskarray(y)), "classes": model.classes_,
            "balance": model.balance_, "balance_se": model.balance_se_, "balance_found": model.balance_found_,
            "class_shares": shares_told(model),
        }  # fmt: skip

    layout = Layout(label=label, ignore=ignore or (), zero_based=zero_based)
    Job(data, form, layout, output, as_json, quiet, scale, report).run("positive-unlabeled", model, train)


@fit.command("proportions")
def proportions(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    group: Group = "group",
    share: Share = "share",
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    scale: option.Scale = None,
    slack: Slack = SHARES["slack"],
    C: option.COfRow = SHARES["C"],
    kernel: option.Kernel = SHARES["kernel"],
    gamma: option.Gamma = SHARES["gamma"],
    tol: option.Tol = SHARES["tol"],
    seed: option.Seed = 0,
    report: option.Report = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Train a classifier on the class shares of groups.

    The data contain the share of class 1 in each group of rows. In svmlight files, the group of a row is its 'qid:',
    and its label is the share of the group.
    """
    from wellsvm import ProportionSVC
    from wellsvm.cli._training import Job, labels_of

    model = ProportionSVC(C=C, slack=slack, kernel=kernel.value, gamma=gamma, tol=tol, random_state=seed)

    def train(model: Any, table: Any) -> dict[str, Any]:
        shares: dict[Any, Any] = {}
        assert table.groups is not None
        for row, (name, value) in enumerate(zip(table.groups.tolist(), labels_of(table).tolist())):
            if value is None or shares.setdefault(name, value) != value:
                told = "no share" if value is None else f"the share {value}, but its group has {shares[name]} elsewhere"
                raise ValueError(f"data row {row + 1} of group {name!r} has {told}")
        model.fit(table.X, groups=table.groups, proportions=shares)
        return {"groups": len(shares), "classes": model.classes_, "searched": model.searched_}

    layout = Layout(label=share, bag=group, ignore=ignore or (), zero_based=zero_based)
    Job(data, form, layout, output, as_json, quiet, scale, report).run("proportions", model, train)


@fit.command("noisy-labels")
def noisy_labels(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    label: option.Label = "label",
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    scale: option.Scale = None,
    noise: Noise = NOISY["noise"],
    suspects: Suspects = 10,
    C: CNoisy = NOISY["C"],
    kernel: option.Kernel = NOISY["kernel"],
    gamma: option.Gamma = NOISY["gamma"],
    tol: option.Tol = NOISY["tol"],
    seed: option.Seed = 0,
    report: option.Report = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Train a classifier on labels that may be wrong.

    The summary lists the rows with the most suspicious labels.
    """
    from wellsvm import NoisyLabelSVC
    from wellsvm.cli._training import Job, labels_of

    model = NoisyLabelSVC(noise=noise, C=C, kernel=kernel.value, gamma=gamma, tol=tol, random_state=seed)

    def train(model: Any, table: Any) -> dict[str, Any]:
        model.fit(table.X, labels_of(table))
        return {
            "classes": model.classes_, "C": model.C_, "noise": model.noise_, "suspects": model.suspects_[:suspects] + 1
        }  # fmt: skip

    layout = Layout(label=label, ignore=ignore or (), zero_based=zero_based)
    Job(data, form, layout, output, as_json, quiet, scale, report).run("noisy-labels", model, train)


@fit.command("candidates")
def candidates(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    label: option.Label = "label",
    ignore: option.Ignore = None,
    scale: option.Scale = None,
    separator: Separator = "|",
    C: option.C = CANDIDATES["C"],
    kernel: option.Kernel = CANDIDATES["kernel"],
    gamma: option.Gamma = CANDIDATES["gamma"],
    tol: option.Tol = CANDIDATES["tol"],
    seed: option.Seed = 0,
    jobs: option.Jobs = None,
    report: option.Report = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Train a classifier on candidate labels.

    A cell such as a|b means that the class is a or b.
    """
    from wellsvm import CandidateLabelSVC
    from wellsvm.cli._training import Job, labels_of

    model = CandidateLabelSVC(
        C=C, C_ambiguous=C, kernel=kernel.value, gamma=gamma, tol=tol, random_state=seed, n_jobs=jobs
    )

    def train(model: Any, table: Any) -> dict[str, Any]:
        cells = labels_of(table).filled("") if labels_of(table).dtype.kind in "UO" else labels_of(table).astype(str)
        sets = [{part.strip() for part in str(cell).split(separator) if part.strip()} for cell in cells.tolist()]
        model.fit(table.X, sets)
        return {"labeled": sum(len(cell) == 1 for cell in sets), "classes": model.classes_, "balance": model.balance_}

    layout = Layout(label=label, ignore=ignore or ())
    Job(data, form, layout, output, as_json, quiet, scale, report).run("candidates", model, train)
