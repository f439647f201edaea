"""Where the project lives: the one place to change when it moves (besides pyproject.toml; see CONTRIBUTING.md)."""

from __future__ import annotations

__all__ = ["DOCS", "REPOSITORY", "page_of"]

REPOSITORY = "https://github.com/wellsvm/wellsvm"
DOCS = "https://wellsvm.github.io/wellsvm"
# Pages whose name differs from that of the class; see autosummary_filename_map in docs/conf.py.
RENAMED = {"wellsvm.baselines.miSVM": "wellsvm.baselines.mi-SVM"}


def page_of(estimator: type) -> str:
    """The page of an estimator in the reference."""
    package = "wellsvm.baselines" if estimator.__module__.startswith("wellsvm.baselines") else "wellsvm"
    name = f"{package}.{estimator.__name__}"
    return f"{DOCS}/stable/generated/{RENAMED.get(name, name)}.html"
