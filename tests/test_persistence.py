"""Saved models: same bits in a fresh process, nothing foreign loaded, files whole whatever happens.

The golden files of a release are made once, by ``python tests/test_persistence.py`` with that release installed, and
never again: they prove that later releases read them.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellsvm
from wellsvm import (
    Bags,
    MaxMarginClustering,
    MultiInstanceSVC,
    MultiInstanceSVCCV,
    SemiSupervisedSVC,
    SemiSupervisedSVCCV,
    baselines,
)
from wellsvm.bags import per_instance
from wellsvm.baselines import CPMMC, GMMC, MISVM, IterativeSVR, KernelKMeans, MIKernelSVC, miSVM
from wellsvm.persistence import MARK, TRUSTED, read_mark

skops_io = pytest.importorskip("skops.io")

GOLDEN = Path(__file__).parent / "golden"
ROWS = np.arange(60)
X = np.random.default_rng(0).standard_normal((60, 4)) + 2.0 * (ROWS % 2)[:, None]
SPARSE = sparse.csr_matrix(np.where(X > 0, X, 0.0))
Y = np.where(ROWS < 12, ROWS % 2, np.nan)
NAMES = np.where(ROWS < 12, np.array(["ham", "spam", "eggs"])[ROWS % 3], None)
BAGS, BAG_LABELS = Bags(X, ROWS // 3), np.arange(20) % 2


def fitted_models():
    """Every estimator, with the kernels, classes and containers that are stored differently; and its input."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "linear": (SemiSupervisedSVC(random_state=0).fit(X, Y), X),
            "float32": (SemiSupervisedSVC(random_state=0).fit(X.astype(np.float32), Y), X.astype(np.float32)),
            "rbf": (SemiSupervisedSVC(kernel="rbf", balance=(0.3, 0.7), random_state=0).fit(X, Y), X),
            "sparse_rbf": (SemiSupervisedSVC(kernel="rbf", random_state=0).fit(SPARSE, Y), SPARSE),
            "strings": (SemiSupervisedSVC(class_weight="balanced", random_state=0).fit(X, NAMES), X),
            "warm": (SemiSupervisedSVC(warm_start=True, random_state=np.random.RandomState(0)).fit(X, Y), X),
            "cv": (SemiSupervisedSVCCV(cv=StratifiedKFold(3), Cs_unlabeled=[0.1], random_state=0).fit(X, Y), X),
            "pipeline": (make_pipeline(StandardScaler(), Nystroem(random_state=0), SemiSupervisedSVC()).fit(X, Y), X),
            "bags": (MultiInstanceSVC(random_state=0).fit(BAGS, BAG_LABELS), BAGS),
            "sparse_bags": (MultiInstanceSVC(random_state=0).fit(BAGS.with_instances(SPARSE), BAG_LABELS), BAGS),
            "linear_bags": (MultiInstanceSVC(kernel="linear", random_state=0).fit(BAGS, BAG_LABELS), BAGS),
            "context_bags": (MultiInstanceSVC(context=2.0, random_state=0).fit(BAGS, BAG_LABELS), BAGS),
            "bags_cv": (MultiInstanceSVCCV(cv=StratifiedKFold(2), gammas=[0.5], n_jobs=1).fit(BAGS, BAG_LABELS), BAGS),
            "bags_pipeline": (
                make_pipeline(per_instance(StandardScaler()), MultiInstanceSVC()).fit(BAGS, BAG_LABELS),
                BAGS,
            ),
            "clusters": (MaxMarginClustering(3, random_state=0).fit(X), X),
            "rbf_clusters": (MaxMarginClustering(kernel="rbf", random_state=0).fit(X), X),
            "k_means": (KernelKMeans(random_state=0).fit(X), X),
            "CPMMC": (CPMMC(random_state=0).fit(X), X),
            "GMMC": (GMMC().fit(X), X),
            "IterativeSVR": (IterativeSVR(random_state=0).fit(X), X),
            "MISVM": (MISVM(random_state=0).fit(BAGS, BAG_LABELS), BAGS),
            "miSVM": (miSVM(random_state=0).fit(BAGS, BAG_LABELS), BAGS),
            "MIKernelSVC": (MIKernelSVC(random_state=0).fit(BAGS, BAG_LABELS), BAGS),
        }


def decided(model, rows) -> list[str]:
    """The bits of the decision values, where there are some, and the predictions."""
    values = model.decision_function(rows).tobytes().hex() if hasattr(model, "decision_function") else "none"
    return [values, *map(str, model.predict(rows))]


@pytest.fixture(scope="module")
def models():
    return fitted_models()


@pytest.fixture
def model():
    return SemiSupervisedSVC(random_state=0).fit(X, Y)


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.skops"
    wellsvm.save(model, path)
    return path


# ------------------------------------------------------------------ round trips


@pytest.mark.slow
def test_every_estimator_predicts_the_same_bits_in_a_fresh_process(models, tmp_path):
    for name, (model, _) in models.items():
        wellsvm.save(model, tmp_path / f"{name}.skops")
    program = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_persistence import BAGS, SPARSE, X, decided, np, wellsvm
inputs = {"float32": X.astype(np.float32), "sparse_rbf": SPARSE}
for path in sorted(Path(sys.argv[1]).glob("*.skops")):
    model = wellsvm.load(path)
    rows = inputs.get(path.stem, BAGS if "bags" in path.stem or path.stem in ("MISVM", "miSVM", "MIKernelSVC") else X)
    print(path.stem, *decided(model, rows))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(Path(__file__).parent)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert told.keys() == models.keys()
    for name, (model, rows) in models.items():
        assert told[name].split() == decided(model, rows), name


def test_parameters_and_the_report_come_back(models, tmp_path):
    model, _ = models["rbf"]
    wellsvm.save(model, tmp_path / "model")
    loaded = wellsvm.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert loaded.history_ == model.history_
    assert (loaded.objective_, loaded.gap_, loaded.status_) == (model.objective_, model.gap_, model.status_)
    assert not hasattr(loaded, "transduction_")


def test_all_public_estimators_are_trusted():
    public = [getattr(module, name) for module in (wellsvm, baselines) for name in module.__all__]
    estimators = [entry for entry in public if hasattr(entry, "get_params")]
    assert {SemiSupervisedSVC, MISVM} <= set(estimators)
    assert {f"{entry.__module__}.{entry.__name__}" for entry in estimators} <= set(TRUSTED)


def test_the_mark_tells_the_format_versions_and_notes(model, tmp_path):
    wellsvm.save(model, tmp_path / "model", notes={"rows": 60})
    mark = read_mark(tmp_path / "model")
    assert (mark["format"], mark["model"], mark["notes"]) == (1, "SemiSupervisedSVC", {"rows": 60})
    assert mark["versions"]["numpy"] == np.__version__


# ------------------------------------------------------------------ what is not saved


def some_kernel(A, B):
    return A @ B.T


def test_a_function_as_kernel_is_refused_by_name_and_the_old_file_stays(model, saved):
    before = saved.read_bytes()
    model.set_params(kernel=some_kernel)
    with pytest.raises(TypeError, match=r"some_kernel \(given as kernel=some_kernel: functions cannot be stored"):
        wellsvm.save(model, saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_a_foreign_type_is_refused_by_name(tmp_path):
    class Own(StandardScaler):
        pass

    pipeline = make_pipeline(Own(), SemiSupervisedSVC()).fit(X, Y)
    with pytest.raises(TypeError, match=r"test_persistence\.Own"):
        wellsvm.save(pipeline, tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_a_search_says_what_to_save_instead(tmp_path):
    search = GridSearchCV(SemiSupervisedSVC(unlabeled=None, random_state=0), {"C": [0.1, 1.0]}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, ROWS % 2)
    with pytest.raises(TypeError, match="save its best_estimator_ instead"):
        wellsvm.save(search, tmp_path / "model")
    wellsvm.save(search.best_estimator_, tmp_path / "model")


def test_callbacks_are_left_out_and_stay_on_the_model(tmp_path):
    callback = pytest.importorskip("sklearn.callback").ProgressBar()
    model = SemiSupervisedSVC(random_state=0).set_callbacks(callback).fit(X, Y)
    pipeline = make_pipeline(StandardScaler(), SemiSupervisedSVC()).set_callbacks(callback).fit(X, Y)
    wellsvm.save(model, tmp_path / "model")
    wellsvm.save(pipeline, tmp_path / "pipeline")
    np.testing.assert_array_equal(wellsvm.load(tmp_path / "model").coef_, model.coef_)
    assert model._skl_callbacks == [callback]
    assert model.transduction_.shape == (60,)


def test_what_is_no_fitted_estimator_is_refused(tmp_path):
    with pytest.raises(NotFittedError, match="SemiSupervisedSVC"):
        wellsvm.save(SemiSupervisedSVC(), tmp_path / "model")
    with pytest.raises(TypeError, match="fitted estimator; got dict"):
        wellsvm.save({}, tmp_path / "model")


@pytest.mark.parametrize(
    "place, error",
    [("missing/model", "folder of .* does not exist"), (".", "is a folder"), ("pipe", "not a regular file")],
)
def test_places_that_cannot_be_written(model, tmp_path, place, error):
    if place == "pipe":
        os.mkfifo(tmp_path / place)
    with pytest.raises(OSError, match=error):
        wellsvm.save(model, tmp_path / place)


def test_without_skops_the_error_names_the_extra(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install 'wellsvm\[persist\]'"):
        wellsvm.save(model, tmp_path / "model")


# ------------------------------------------------------------------ what is not loaded


def rewritten(path: Path, change) -> Path:
    """A copy of a model file; ``change(name, content)`` gives the new content of every member."""
    copy = path.with_name("changed.skops")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return copy


def with_schema(path: Path, change) -> Path:
    """A copy of a model file with its schema changed."""

    def edit(name: str, content: bytes) -> bytes:
        if name != "schema.json":
            return content
        schema = json.loads(content)
        change(schema)
        return json.dumps(schema).encode()

    return rewritten(path, edit)


def test_the_untouched_copy_loads(saved):
    assert isinstance(wellsvm.load(with_schema(saved, lambda schema: None)), SemiSupervisedSVC)


@pytest.mark.parametrize("loader", ["ObjectNode", "TypeNode", "FunctionNode"])
def test_a_foreign_type_in_the_file_is_refused_by_name_and_never_imported(saved, loader):
    def plant(schema):
        schema["content"]["content"]["coef_"] |= {
            "__class__": "run", "__module__": "antigravity", "__loader__": loader, "__id__": 1,
            "content": schema["content"]["content"]["C"],
        }  # fmt: skip

    with pytest.raises(ValueError, match=r"antigravity\.run"):
        wellsvm.load(with_schema(saved, plant))
    assert "antigravity" not in sys.modules


def test_a_file_whose_root_is_no_estimator_is_refused(saved):
    def plant(schema):
        schema |= {"__class__": "exp", "__module__": "numpy", "__loader__": "FunctionNode", "__id__": 1}

    # NumPy's functions are among what skops trusts if it knows this NumPy, else they are refused as a type.
    with pytest.raises(ValueError, match=r"not contain an estimator but ufunc|not loaded: numpy\.exp"):
        wellsvm.load(with_schema(saved, plant))


def test_sparse_rows_with_indices_outside_are_refused(models, tmp_path):
    model, _ = models["sparse_rbf"]
    wellsvm.save(model, tmp_path / "model")
    loaded = wellsvm.load(tmp_path / "model")
    loaded.support_vectors_.indices[0] = 10**6
    wellsvm.save(loaded, tmp_path / "model")
    with pytest.raises(ValueError, match="damaged"):
        wellsvm.load(tmp_path / "model")


def test_a_newer_format_is_refused_with_its_version(saved):
    newer = json.dumps({"format": 2, "versions": {"wellsvm": "9.1"}, "something": "new"}).encode()
    changed = rewritten(saved, lambda name, content: newer if name == MARK else content)
    with pytest.raises(ValueError, match=r"format 2, written by wellsvm 9\.1.*install a newer wellsvm"):
        wellsvm.load(changed)


def test_a_skops_file_without_the_mark_is_refused(model, tmp_path):
    skops_io.dump(model, tmp_path / "model")
    with pytest.raises(ValueError, match="was not written by wellsvm"):
        wellsvm.load(tmp_path / "model")


def test_cut_files_are_refused_wherever_they_are_cut(saved):
    whole = saved.read_bytes()
    for length in np.linspace(0, len(whole) - 1, 40).astype(int):
        saved.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"was not written by wellsvm\.save, or is cut short"):
            wellsvm.load(saved)


def test_flipped_bits_are_refused_or_harmless(model, saved):
    whole, rng = saved.read_bytes(), np.random.default_rng(0)
    refused = 0
    for position in rng.integers(len(whole), size=100):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << rng.integers(8)
        saved.write_bytes(flipped)
        try:
            loaded = wellsvm.load(saved)
        except ValueError as error:
            refused += str(saved) in str(error)
        else:  # a bit of the archive's dates and the like
            np.testing.assert_array_equal(loaded.coef_, model.coef_)
    assert refused > 50


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        wellsvm.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        wellsvm.load(tmp_path)


# ------------------------------------------------------------------ whole files


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_are_those_of_a_new_file_or_of_the_old_one(model, tmp_path):
    old = os.umask(0o027)
    try:
        wellsvm.save(model, tmp_path / "model")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o640
    (tmp_path / "model").chmod(0o600)
    wellsvm.save(model, tmp_path / "model")
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")
def test_a_link_stays_a_link(model, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "model")
    wellsvm.save(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert isinstance(wellsvm.load(tmp_path / "model"), SemiSupervisedSVC)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(model, saved, monkeypatch):
    before = saved.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        wellsvm.save(model, saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_hundred_kills_during_save_leave_the_file_whole(tmp_path):
    program = """
import os, random, signal, sys, time
import numpy as np
import wellsvm
from sklearn.preprocessing import MaxAbsScaler  # is saved faster than an SVM
path, rng = sys.argv[1], np.random.default_rng(0)
models = [MaxAbsScaler().fit(rng.standard_normal((12, 5000))) for _ in range(2)]
known = [model.scale_.tobytes() for model in models]
wellsvm.save(models[1], path)  # the children inherit what it imports
began = time.perf_counter()
wellsvm.save(models[1], path)
duration = time.perf_counter() - began
random.seed(0)
n_left = 0  # a later save sweeps what a killed one has left, so it is counted kill by kill
for k in range(100):
    pid = os.fork()
    if pid == 0:
        while True:
            wellsvm.save(models[k % 2], path)
    time.sleep(random.uniform(0.0, 2 * duration))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert wellsvm.load(path).scale_.tobytes() in known, k
    left = [name for name in os.listdir(os.path.dirname(path)) if name != os.path.basename(path)]
    assert all(name.startswith(".wellsvm-") for name in left), left
    n_left += bool(left)
print(n_left)
"""
    path = tmp_path / "model.skops"
    command = [sys.executable, "-W", "ignore", "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0, "no kill fell into a save"


# ------------------------------------------------------------------ files of earlier releases

GOLDEN_MODELS = ("linear", "rbf", "strings", "cv", "bags_pipeline", "sparse_bags", "clusters", "rbf_clusters", "MISVM")
GOLDEN_ROWS = 12


def golden_input(name: str):
    return BAGS[: GOLDEN_ROWS // 3] if "bags" in name or name == "MISVM" else X[:GOLDEN_ROWS]


def write_golden(folder: Path) -> None:
    """Write the golden files of the installed release."""
    folder.mkdir(parents=True)
    expected, models = {}, fitted_models()
    for name in GOLDEN_MODELS:
        model, rows = models[name][0], golden_input(name)
        wellsvm.save(model, folder / f"{name}.skops")
        last = model[-1] if hasattr(model, "steps") else model
        expected |= {
            f"{name}.decision": model.decision_function(rows),
            f"{name}.predict": model.predict(rows).astype(str),
        }
        expected[f"{name}.coef"] = last.coef_ if hasattr(last, "coef_") else last.dual_coef_
    np.savez_compressed(folder / "expected.npz", **expected)


def golden_files() -> list:
    return [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in sorted(GOLDEN.glob("*/*.skops"))]


@pytest.mark.parametrize("path", golden_files())
def test_files_of_earlier_releases_load_and_predict_what_they_did(path):
    assert path.stat().st_size < 20_000
    expected = np.load(path.parent / "expected.npz", allow_pickle=False)
    model, rows = wellsvm.load(path), golden_input(path.stem)
    last = model[-1] if hasattr(model, "steps") else model
    coef = last.coef_ if hasattr(last, "coef_") else last.dual_coef_
    assert coef.tobytes() == expected[f"{path.stem}.coef"].tobytes()
    np.testing.assert_array_equal(model.predict(rows).astype(str), expected[f"{path.stem}.predict"])
    # Not the same bits: sums and exponentials differ by the processor's vector width.
    np.testing.assert_allclose(model.decision_function(rows), expected[f"{path.stem}.decision"], rtol=1e-9, atol=1e-12)


def test_there_are_golden_files():
    assert {path.stem for path in GOLDEN.glob("0.1/*.skops")} == set(GOLDEN_MODELS)


def test_a_model_of_one_cluster_is_stored(tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 2))
    wellsvm.save(MaxMarginClustering(1).fit(X), tmp_path / "model")
    np.testing.assert_array_equal(wellsvm.load(tmp_path / "model").predict(X), np.zeros(20))


if __name__ == "__main__":
    write_golden(GOLDEN / ".".join(wellsvm.__version__.split(".")[:2]))
