"""``wellsvm fit``: one command for each task; the options are the estimators' parameters."""

from __future__ import annotations

from typing import Any

import typer

from wellsvm import MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.cli import _options as option
from wellsvm.cli._data import Format, Layout
from wellsvm.cli._training import Job, on_bags, on_clusters, on_rows

__all__ = ["fit"]

fit = typer.Typer(rich_markup_mode=None)
ROWS, BAGS, CLUSTERS = (option.defaults_of(e) for e in (SemiSupervisedSVC, MultiInstanceSVC, MaxMarginClustering))
FOLDS = option.defaults_of(SemiSupervisedSVCCV)["cv"]


@fit.callback(invoke_without_command=True)
def about(context: typer.Context) -> None:
    """Train a model on a file of data and save it."""
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
    balance: option.Balance = ROWS["balance"],
    search: option.Search = None,
    safe: option.Safe = None,
    oracle: option.Oracle = ROWS["oracle"],
    refine: option.Refine = ROWS["refine"],
    tol: option.Tol = ROWS["tol"],
    max_iter: option.MaxIter = ROWS["max_iter"],
    seed: option.Seed = 0,
    jobs: option.Jobs = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Classify rows, from labeled and unlabeled ones.

    An unlabeled row has an empty label cell in CSV and Parquet, the label nan or the one of --unlabeled elsewhere.
    """
    model: Any = SemiSupervisedSVC()
    if cv:
        if C_unlabeled is not None:
            raise typer.BadParameter("--cv chooses C_unlabeled; leave out --C-unlabeled, or --cv")
        if safe is not None:
            raise typer.BadParameter("--cv judges unlabeled rows by its folds; leave out --safe and --no-safe, or --cv")
        model = SemiSupervisedSVCCV(cv=folds)
    given = {"C_unlabeled": C_unlabeled, "safe": safe, "search": search and search.value}
    model.set_params(**{name: value for name, value in given.items() if value is not None})
    model.set_params(
        C=C, kernel=kernel.value, gamma=gamma, degree=degree, coef0=coef0, loss=loss.value, balance=balance,
        oracle=oracle.value, refine=refine, tol=tol, max_iter=max_iter, random_state=seed, n_jobs=jobs,
    )  # fmt: skip
    layout = Layout(label=label, ignore=ignore or (), zero_based=zero_based, memory=memory)
    Job(data, form, layout, output, as_json, quiet).run("semi-supervised", model, on_rows(unlabeled))


@fit.command("multi-instance")
def multi_instance(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    label: option.Label = "label",
    bag: option.Bag = "bag",
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    memory: option.Memory = Layout.memory,
    positive_class: option.PositiveClass = None,
    C_positive: option.CPositive = BAGS["C_positive"],
    C_negative: option.CNegative = BAGS["C_negative"],
    key_instances: option.KeyInstances = BAGS["n_key_instances"],
    kernel: option.Kernel = BAGS["kernel"],
    gamma: option.Gamma = BAGS["gamma"],
    degree: option.Degree = BAGS["degree"],
    coef0: option.Coef0 = BAGS["coef0"],
    loss: option.Loss = BAGS["loss"],
    oracle: option.Oracle = BAGS["oracle"],
    refine: option.Refine = BAGS["refine"],
    tol: option.Tol = BAGS["tol"],
    max_iter: option.MaxIter = BAGS["max_iter"],
    seed: option.Seed = 0,
    jobs: option.Jobs = None,
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Classify bags of rows, from one label per bag.

    The bag of a row is its 'qid:' in svmlight, the array 'bag' in .npz, or a column.
    """
    model = MultiInstanceSVC(
        C_positive=C_positive, C_negative=C_negative, n_key_instances=key_instances, kernel=kernel.value, gamma=gamma,
        degree=degree, coef0=coef0, loss=loss.value, oracle=oracle.value, refine=refine, tol=tol, max_iter=max_iter,
        random_state=seed, n_jobs=jobs,
    )  # fmt: skip
    layout = Layout(label=label, bag=bag, ignore=ignore or (), zero_based=zero_based, memory=memory)
    Job(data, form, layout, output, as_json, quiet).run("multi-instance", model, on_bags(positive_class))


@fit.command("clustering")
def clustering(
    data: option.Data,
    output: option.ModelOutput,
    form: option.How = Format.AUTO,
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    memory: option.Memory = Layout.memory,
    clusters: option.Clusters = CLUSTERS["n_clusters"],
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
    as_json: option.Json = False,
    quiet: option.Quiet = False,
) -> None:
    """Cluster rows.

    Labels in svmlight and .npz files are not used. In CSV and Parquet every column is a feature; see --ignore-column.
    """
    model = MaxMarginClustering(
        n_clusters=clusters, C=C, balance=balance, kernel=kernel.value, gamma=gamma, degree=degree, coef0=coef0,
        loss=loss.value, n_init=starts, oracle=oracle.value, refine=refine, tol=tol, max_iter=max_iter,
        random_state=seed, n_jobs=jobs,
    )  # fmt: skip
    layout = Layout(ignore=ignore or (), zero_based=zero_based, memory=memory)
    Job(data, form, layout, output, as_json, quiet).run("clustering", model, on_clusters)
