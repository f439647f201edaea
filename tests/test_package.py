"""The package as installed: version, backends, what an import loads, what the wheel must hold."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import metadata, resources

import numpy as np
import pytest

import wellsvm

FIT = """
import json
import numpy as np
from wellsvm import SemiSupervisedSVC
rng = np.random.default_rng(0)
X = rng.standard_normal((40, 4)) + 2 * (np.arange(40) % 2)[:, None]
y = np.where(np.arange(40) < 10, np.arange(40) % 2, np.nan)
models = [SemiSupervisedSVC(kernel=k, loss="squared_hinge", tol=1e-5, random_state=0) for k in ("linear", "rbf")]
values = [model.fit(X, y).decision_function(X).tolist() for model in models]
"""


def run(program, **environment):
    """Standard output of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, **environment}, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_version_is_the_installed_one():
    try:
        wanted = metadata.version("wellsvm")
    except metadata.PackageNotFoundError:
        wanted = "0+unknown"
    assert wellsvm.__version__ == wanted
    assert re.match(r"\d+(\.\d+)*", wellsvm.__version__)


def test_all_public_names_exist():
    assert {"SemiSupervisedSVC", "SemiSupervisedSVCCV", "show_versions"} <= set(wellsvm.__all__)
    for name in wellsvm.__all__:
        assert hasattr(wellsvm, name)


def test_show_versions_prints_the_backend_and_what_wellsvm_stands_on(capsys):
    wellsvm.show_versions()
    printed = dict(re.split(r":\s*", line.strip(), maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert re.match(r"(native|reference) \(.+\)", printed["backend"])
    assert printed["numpy"] == np.__version__
    assert {"python", "wellsvm", "scipy", "scikit-learn"} <= printed.keys()


@pytest.fixture(scope="module")
def decided():
    """Decision values of the backend in use, by a fresh interpreter."""
    return json.loads(run(FIT + "print(json.dumps(values))"))


@pytest.mark.slow
def test_the_reference_backend_can_be_asked_for_and_decides_the_same(decided):
    program = FIT + "from wellsvm.native import backend_name\nprint(json.dumps([backend_name(), values]))"
    name, values = json.loads(run(program, WELLSVM_BACKEND="reference", PYTHONWARNINGS="error::RuntimeWarning"))
    assert name.startswith("reference")
    np.testing.assert_array_equal(np.sign(values), np.sign(decided))
    np.testing.assert_allclose(values, decided, atol=0.02)


@pytest.mark.slow
def test_a_missing_compiled_module_warns_once_and_the_reference_takes_over(decided):
    program = """
import sys, warnings

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name == "wellsvm.native._native":
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import wellsvm
    import wellsvm.native
    from wellsvm.native import backend_name
    FIT
told = [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)]
print(json.dumps([backend_name(), told, values]))
""".replace("FIT", FIT.strip().replace("\n", "\n    "))
    name, told, values = json.loads(run(program, WELLSVM_BACKEND=""))
    assert name.startswith("reference")
    assert len(told) == 1
    assert "compiled module is missing" in told[0]
    np.testing.assert_allclose(values, decided, atol=0.02)


@pytest.mark.slow
def test_wellsvm_imports_no_optional_package_and_works_without_them():
    # scikit-learn itself tries some of them, so the hook asks who wants the package, and then refuses it.
    program = """
import sys
OPTIONAL = {"pandas", "polars", "matplotlib", "typer", "rich", "skops", "cvxpy", "pytest", "psutil"}
wanted_by = []

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OPTIONAL:
            frame = sys._getframe(1)
            while "importlib" in frame.f_code.co_filename:
                frame = frame.f_back
            wanted_by.append(frame.f_globals["__name__"])
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
import wellsvm
FIT
print(json.dumps([wanted_by, sorted(OPTIONAL & sys.modules.keys())]))
""".replace("FIT", FIT)
    wanted_by, loaded = json.loads(run(program))
    assert not [module for module in wanted_by if module.startswith("wellsvm")]
    assert not loaded


@pytest.mark.parametrize("name", ["py.typed", "native/_native.pyi"])
def test_type_information_is_part_of_the_package(name):
    assert resources.files("wellsvm").joinpath(*name.split("/")).is_file()
