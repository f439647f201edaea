"""`wellsvm.show_versions`: what to paste into a bug report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from wellsvm.native import backend_name

__all__ = ["show_versions"]


def show_versions() -> None:
    """Print versions of wellsvm, its dependencies and Python, and the backend that runs."""

    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    print(f"{'backend':>14}: {backend_name()}")
    print(f"{'python':>14}: {platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in (
        "wellsvm",
        "numpy",
        "scipy",
        "scikit-learn",
        "joblib",
        "matplotlib",
        "typer",
        "rich",
    ):
        print(f"{package:>14}: {of(package)}")
