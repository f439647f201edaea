"""`wellsvm.show_versions`: what to paste into a bug report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from wellsvm.native import backend_name

__all__ = ["show_versions", "versions"]

PACKAGES = ("wellsvm", "numpy", "scipy", "scikit-learn", "joblib", "matplotlib", "typer", "rich")


def versions() -> dict[str, str]:
    """The backend that runs, Python, and the versions of wellsvm and its dependencies."""

    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    python = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return {"backend": backend_name(), "python": python, **{package: of(package) for package in PACKAGES}}


def show_versions() -> None:
    """Print versions of wellsvm, its dependencies and Python, and the backend that runs."""
    for name, value in versions().items():
        print(f"{name:>14}: {value}")
