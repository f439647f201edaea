"""The command line only: CSV in, model, predictions and an HTML page out. Python makes the data, reads the result."""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_wine

WELLSVM = [sys.executable, "-c", "from wellsvm.cli import main; main()"]  # the command `wellsvm`


def wellsvm(*arguments):
    """Run a command; what it prints."""
    print("$ wellsvm", *arguments)
    done = subprocess.run([*WELLSVM, *arguments], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


wine = load_wine()
names = [name.replace("/", "_") for name in wine.feature_names]
with tempfile.TemporaryDirectory() as folder:
    with open(Path(folder) / "wine.csv", "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["bottle", *names, "cultivar"])
        for k, (row, kind) in enumerate(zip(wine.data, wine.target)):
            lines.writerow([f"b{k}", *row, f"kind {kind}" if k % 9 == 0 else ""])  # every ninth is labeled
    print(wellsvm("fit", "semi-supervised", "wine.csv", "-o", "wine.skops", "--label-column", "cultivar",
                  "--ignore-column", "bottle", "--report", "wine.html"))  # fmt: skip
    wellsvm("predict", "wine.skops", "wine.csv", "-o", "out.csv", "--keep-column", "bottle")
    print(wellsvm("info", "wine.skops").splitlines()[0])
    with open(Path(folder) / "out.csv", newline="", encoding="utf-8") as file:
        predicted = {line["bottle"]: line["prediction"] for line in csv.DictReader(file)}
    right = sum(predicted[f"b{k}"] == f"kind {kind}" for k, kind in enumerate(wine.target))
    print(f"{right} of {len(predicted)} right; the page has {(Path(folder) / 'wine.html').stat().st_size:,} bytes")
    assert right > 165
