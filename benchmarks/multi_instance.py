"""MultiInstanceSVC beside MI-SVM, mi-SVM and MI-Kernel on the same folds, parameters chosen inside each fold.

    python benchmarks/multi_instance.py run mil_musk1 mil_elephant --out benchmarks/results/multi_instance.jsonl
    python benchmarks/multi_instance.py table benchmarks/results/multi_instance.jsonl
    python benchmarks/multi_instance.py speed mil_musk2

Every result is appended as soon as it is there; a run that was stopped goes on where it was. WELLSVM_DATA names the
data folder.

Stratified 10-fold cross-validation, standardised instances, Gaussian kernel. Width, C_negative and C_positive come from
the paper's grids: width s in {1/4, 1/2, 1, 2, 4}, C_negative in {1, 10, 100} and C_positive in {1, 4, 10} C_negative.
Inside each training set a stratified 3-fold cross-validation (5-fold for the Musk sets, whose training sets have fewer
than 100 bags) chooses among the 45: after each inner fold the better half stays in the race, by the mean of accuracy
and area under the ROC curve, as 30 bags tell little by accuracy alone. Regions of interest: ``wellsvm reproduce 10``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from wellsvm import Bags, MultiInstanceSVC, _journal
from wellsvm.datasets import load
from wellsvm.geometry.kernels import mean_squared_distance
from wellsvm.reproduce.regions import Instances, Part, Race, choose, grid_of

METHODS = {
    "MultiInstanceSVC": "WellSVM, not refined",
    "MultiInstanceSVC, refined": "WellSVM",
    "MI-SVM": "MI-SVM",
    "mi-SVM": "mi-SVM",
    "MI-Kernel": "MI-Kernel",
}
GRID = grid_of((0.25, 0.5, 1.0, 2.0, 4.0), (1.0, 10.0, 100.0), (1.0, 4.0, 10.0))
FOLDS, FOLDS_OF_FEW_BAGS, FEW_BAGS = 3, 5, 100


def problems(name: str, repeats: int) -> Iterator[tuple]:
    data = load(name)
    bags = Instances(StandardScaler().fit_transform(data.X), data.groups)
    y = data.y > 0
    for repeat in range(repeats):
        split = StratifiedKFold(10, shuffle=True, random_state=repeat).split(y, y)
        for fold, (train, test) in enumerate(split):
            yield {"set": name, "repeat": repeat, "fold": fold}, bags, y, train, test


def run(names: list[str], repeats: int, methods: list[str], out: Path) -> None:
    done = {tuple(record[k] for k in ("set", "repeat", "fold", "method")) for record in _journal.read(out)}
    out.parent.mkdir(parents=True, exist_ok=True)
    _journal.end_last_line(out)
    for name in names:
        for key, data, y, train, test in problems(name, repeats):
            race = Race((0.5, 0.5), 1 / 2, FOLDS_OF_FEW_BAGS if len(train) < FEW_BAGS else FOLDS)
            for method in methods:
                if (*key.values(), method) in done:
                    continue
                point = choose(data, train, y, METHODS[method], GRID, race, seed=key["repeat"])
                part = Part.of(data, point.width, train, test)
                began = time.perf_counter()
                model = part.fit(METHODS[method], point, y[train])
                record = {
                    **key, "method": method, "accuracy": float(model.score(part.test, y[test])), **point._asdict(),
                    "seconds": round(time.perf_counter() - began, 3), "grid": len(GRID),
                }  # fmt: skip
                _journal.append(out, record)


def speed(name: str, rounds: int = 3) -> str:
    """CPU seconds of one fit on all bags beside SVC on all instances with their bag's label, in turns."""
    data = load(name)
    bags, y = Bags(StandardScaler().fit_transform(data.X), data.groups), data.y > 0
    fits = {
        "SVC": lambda: SVC(gamma=1 / mean_squared_distance(bags.X)).fit(bags.X, y[bags.bag_of]),
        "MultiInstanceSVC": lambda: MultiInstanceSVC(random_state=0).fit(bags, y),
    }
    seconds: dict[str, list[float]] = {}
    for _ in range(rounds):
        for method, fit in fits.items():
            began = time.process_time()
            fit()
            seconds.setdefault(method, []).append(time.process_time() - began)
    best = {method: min(times) for method, times in seconds.items()}
    ratio = best["MultiInstanceSVC"] / best["SVC"]
    return f"{name}, {bags.n_instances} instances: {best}, ratio {ratio:.2f}"


def table(paths: list[Path]) -> str:
    """Mean per set and method, in Markdown; a method with fewer runs shows how many."""
    records = [record for path in paths for record in _journal.read(path)]
    methods = [m for m in METHODS if any(r["method"] == m for r in records)]
    lines = ["| set | runs | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]
    rows = []
    for name in dict.fromkeys(r["set"] for r in records):
        values = [[r["accuracy"] for r in records if r["set"] == name and r["method"] == m] for m in methods]
        most = max(len(v) for v in values)
        rows.append([np.mean(v) if len(v) == most else np.nan for v in values])
        cells = [f"{np.mean(v):.3f}" + (f" ({len(v)})" if len(v) < most else "") if v else "-" for v in values]
        lines.append(f"| {name} | {most} | " + " | ".join(cells) + " |")
    means = np.mean(rows, axis=0)
    lines.append("| **mean** | | " + " | ".join("-" if np.isnan(v) else f"**{v:.3f}**" for v in means) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["run", "table", "speed"])
    parser.add_argument("names", nargs="*", help="data sets, or files for the table")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/multi_instance.jsonl"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if arguments.task == "table":
        print(table([Path(name) for name in arguments.names]))
    elif arguments.task == "speed":
        print("\n".join(map(speed, arguments.names)))
    else:
        run(arguments.names, arguments.repeats, arguments.methods, arguments.out)
