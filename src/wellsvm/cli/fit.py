"""``wellsvm fit``: one command for each task; the options are the estimators' parameters."""

from __future__ import annotations

from typing import Any

import typer

from wellsvm.cli import _options as option
from wellsvm.cli._formats import Format, Layout
from wellsvm.cli._options import BAGS, CLUSTERS, FOLDS, ROWS

__all__ = ["fit"]

fit = typer.Typer(rich_markup_mode=None)


@fit.callback(invoke_without_command=True)
def about(context: typer.Context) -> None:
    """Train a model on a data file and save it."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@fit.command("semi-supervised")
def semi_supervised(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    label: option.Label = "label",
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    scale: option.Scale = None,
    memory: option.Memory = Layout.memory,
    unlabeled: option.Unlabeled = "auto",
    C: option.C = ROWS["C"],
    C_unlabeled: option.CUnlabeled = None,
    cv: option.CV = False,
    folds: option.Folds = FOLDS,
    kernel: option.Kernel = ROWS["kernel"],
    gamma: option.Gamma = ROWS["gamma"],
    degree: option.Degree = ROWS["degree"],
    coef0: option.Coef0 = ROWS["coef0"],
    loss: option.LossOfRows = ROWS["loss"],
    balance: option.Balance = None,
    search: option.Search = None,
    safe: option.Safe = None,
    oracle: option.Oracle = ROWS["oracle"],
    refine: option.Refine = ROWS["refine"],
    tol: option.Tol = ROWS["tol"],
    max_iter: option.MaxIter = ROWS["max_iter"],
    seed: option.Seed = 0,
    jobs: option.Jobs = None,
    report: option.Report = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Train a classifier on labeled and unlabeled rows.

    Unlabeled rows have an empty label cell in CSV and Parquet. In other files, their label is nan or the one given by
    --unlabeled.
    """
    from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
    from wellsvm.cli._training import Job, asked_balance, on_rows

    model: Any = SemiSupervisedSVC()
    if cv:
        if C_unlabeled is not None:
            raise typer.BadParameter("--cv chooses --C-unlabeled; leave out one of the two")
        if safe is not None:
            raise typer.BadParameter(
                "--cv already decides whether unlabeled rows are used; leave out --safe and --no-safe, or --cv"
            )
        model = SemiSupervisedSVCCV(cv=folds)
    given = {"C_unlabeled": C_unlabeled, "safe": safe, "search": search and search.value}
    model.set_params(**{name: value for name, value in given.items() if value is not None})
    model.set_params(
        C=C, kernel=kernel.value, gamma=gamma, degree=degree, coef0=coef0, loss=loss.value,
        oracle=oracle.value, refine=refine, tol=tol, max_iter=max_iter, random_state=seed, n_jobs=jobs,
    )  # fmt: skip
    shares = asked_balance(balance)
    layout = Layout(label=label, ignore=ignore or (), zero_based=zero_based, memory=memory)
    job = Job(data, form, layout, output, as_json, quiet, scale, report)
    job.run("semi-supervised", model, on_rows(unlabeled, shares))


@fit.command("multi-instance")
def multi_instance(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    label: option.Label = "label",
    bag: option.Bag = "bag",
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    scale: option.Scale = None,
    memory: option.Memory = Layout.memory,
    positive_class: option.PositiveClass = None,
    C_positive: option.CPositive = None,
    C_negative: option.CNegative = None,
    context: option.Context = None,
    cv: option.CVOfBags = False,
    folds: option.Folds = FOLDS,
    key_instances: option.KeyInstances = BAGS["n_key_instances"],
    kernel: option.Kernel = BAGS["kernel"],
    gamma: option.Gamma = BAGS["gamma"],
    degree: option.Degree = BAGS["degree"],
    coef0: option.Coef0 = BAGS["coef0"],
    loss: option.Loss = BAGS["loss"],
    oracle: option.Oracle = BAGS["oracle"],
    refine: option.Refine = BAGS["refine"],
    tol: option.Tol = BAGS["tol"],
    max_iter: option.MaxIterOfBags = BAGS["max_iter"],
    seed: option.Seed = 0,
    jobs: option.Jobs = None,
    report: option.Report = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Train a classifier of bags, with one label per bag.

    The bag of a row is its 'qid:' in svmlight, its entry of the array 'bag' in .npz, or its cell in a column.
    """
    from wellsvm import MultiInstanceSVC, MultiInstanceSVCCV
    from wellsvm.cli._training import Job, on_bags

    given = {"C_positive": C_positive, "C_negative": C_negative, "context": context}
    given = {name: value for name, value in given.items() if value is not None}
    if cv and given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise typer.BadParameter(f"--cv chooses the penalties and the context; leave out {named}, or --cv")
    model: Any = MultiInstanceSVCCV(cv=folds) if cv else MultiInstanceSVC(**given)
    model.set_params(
        n_key_instances=key_instances, kernel=kernel.value, gamma=gamma, degree=degree, coef0=coef0, loss=loss.value,
        oracle=oracle.value, refine=refine, tol=tol, max_iter=max_iter, random_state=seed, n_jobs=jobs,
    )  # fmt: skip
    layout = Layout(label=label, bag=bag, ignore=ignore or (), zero_based=zero_based, memory=memory)
    job = Job(data, form, layout, output, as_json, quiet, scale, report)
    job.run("multi-instance", model, on_bags(positive_class))


@fit.command("clustering")
def clustering(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    scale: option.Scale = None,
    memory: option.Memory = Layout.memory,
    clusters: option.Clusters = CLUSTERS["n_clusters"],
    must_link: option.MustLink = None,
    cannot_link: option.CannotLink = None,
    C: option.CCluster = CLUSTERS["C"],
    balance: option.BalanceOfClusters = CLUSTERS["balance"],
    kernel: option.Kernel = CLUSTERS["kernel"],
    gamma: option.Gamma = CLUSTERS["gamma"],
    degree: option.Degree = CLUSTERS["degree"],
    coef0: option.Coef0 = CLUSTERS["coef0"],
    loss: option.Loss = CLUSTERS["loss"],
    starts: option.Starts = CLUSTERS["n_init"],
    oracle: option.Oracle = CLUSTERS["oracle"],
    refine: option.Refine = CLUSTERS["refine"],
    tol: option.Tol = CLUSTERS["tol"],
    max_iter: option.MaxIter = CLUSTERS["max_iter"],
    seed: option.Seed = 0,
    jobs: option.Jobs = None,
    report: option.Report = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Find clusters of rows.

    Labels in svmlight and .npz files are ignored. In CSV and Parquet files, every column is a feature unless
    --ignore-column names it.
    """
    from wellsvm import MaxMarginClustering
    from wellsvm.cli._training import Job, on_clusters

    model = MaxMarginClustering(
        n_clusters=clusters, C=C, balance=balance, kernel=kernel.value, gamma=gamma, degree=degree, coef0=coef0,
        loss=loss.value, n_init=starts, oracle=oracle.value, refine=refine, tol=tol, max_iter=max_iter,
        random_state=seed, n_jobs=jobs,
    )  # fmt: skip
    layout = Layout(ignore=ignore or (), zero_based=zero_based, memory=memory)
    job = Job(data, form, layout, output, as_json, quiet, scale, report)
    job.run("clustering", model, on_clusters(must_link, cannot_link))
