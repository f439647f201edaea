"""A fit that is stopped after any of its stages goes on from its file, and ends with the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC
from wellsvm.engine import checkpoint

RNG = np.random.default_rng(0)
X = RNG.standard_normal((240, 6)) + np.repeat([[0.0], [0.7]], 120, axis=0)
Y = np.where(np.arange(240) % 12 == 0, np.repeat([0, 1], 120), -1)
THREE = np.where(np.arange(240) % 12 == 0, np.arange(240) // 12 % 3, -1)
BAGS, BAG_LABELS = Bags(X, np.arange(240) // 5), np.arange(48) % 2

FITS = {
    "two classes": (SemiSupervisedSVC(unlabeled=-1, random_state=0, tol=1e-2), X, Y),
    "three classes": (SemiSupervisedSVC(unlabeled=-1, random_state=0, tol=1e-2, safe=False), X, THREE),
    "bags": (MultiInstanceSVC(0.05, 0.05, kernel="linear", random_state=0, tol=1e-2), BAGS, BAG_LABELS),
    "clusters": (MaxMarginClustering(n_clusters=3, many="divided", random_state=0), X, None),
}  # fmt: skip


class Stopped(Exception):
    pass


def stop_after(monkeypatch, n):
    """Stop a fit once it has kept n stages; None only counts them."""
    store, kept = checkpoint.Checkpoint.store, []

    def counting(self, *arguments):
        store(self, *arguments)
        kept.append(1)
        if len(kept) == n:
            raise Stopped

    monkeypatch.setattr(checkpoint.Checkpoint, "store", counting)
    return kept


@pytest.mark.parametrize("name", FITS)
def test_a_fit_goes_on_after_every_stage_with_the_same_bits(name, tmp_path, monkeypatch):
    model, data, y = FITS[name]
    model = model.set_params(checkpoint=None).fit(data, y)
    coef, objective = model.coef_, np.ravel(model.objective_)
    with monkeypatch.context() as patch:
        stages = stop_after(patch, None)
        model.set_params(checkpoint=tmp_path / "fit").fit(data, y)
    np.testing.assert_array_equal(model.coef_, coef)  # keeping changes nothing
    assert len(stages) >= 3
    for n in range(1, len(stages) + 1):
        with monkeypatch.context() as patch:
            stop_after(patch, n)
            with pytest.raises(Stopped):
                model.fit(data, y)
        assert (tmp_path / "fit").exists()
        model.fit(data, y)
        np.testing.assert_array_equal(model.coef_, coef)
        np.testing.assert_array_equal(np.ravel(model.objective_), objective)
        assert not (tmp_path / "fit").exists()


def stopped_early(tmp_path, monkeypatch, **parameters):
    model = SemiSupervisedSVC(unlabeled=-1, tol=1e-2, checkpoint=tmp_path / "fit", **parameters)
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        with pytest.raises(Stopped):
            model.fit(X, Y)
    return model


def test_a_seed_that_was_drawn_is_kept(tmp_path, monkeypatch):
    model = stopped_early(tmp_path, monkeypatch, random_state=None)
    kept = (tmp_path / "fit").read_bytes()
    first = model.fit(X, Y).coef_
    (tmp_path / "fit").write_bytes(kept)
    np.testing.assert_array_equal(model.fit(X, Y).coef_, first)


def test_a_file_of_another_fit_is_refused(tmp_path, monkeypatch):
    model = stopped_early(tmp_path, monkeypatch, random_state=0)
    with pytest.raises(ValueError, match=r"belongs to another fit: parameters, prices differ; use another file"):
        model.set_params(C=3.0).fit(X, Y)
    model.set_params(C=2.0)
    with pytest.raises(ValueError, match="X differ"):
        model.fit(X + 1.0, Y)
    with pytest.raises(ValueError, match=r"y.* differ"):
        model.fit(X, np.where(np.arange(240) == 5, 1, Y))
    model.set_params(verbose=0, n_jobs=2).fit(X, Y)  # these may


def test_files_that_cannot_be_used(tmp_path):
    (tmp_path / "fit").write_bytes(b"PK no archive")
    with pytest.raises(ValueError, match=r"checkpoint=.*cannot be read.*remove the file"):
        SemiSupervisedSVC(unlabeled=-1, checkpoint=tmp_path / "fit").fit(X, Y)
    with pytest.raises(ValueError, match="kernel='linear'"):
        SemiSupervisedSVC(unlabeled=-1, kernel="rbf", checkpoint=tmp_path / "other").fit(X, Y)
    with pytest.raises(TypeError, match="checkpoint must be the path"):
        SemiSupervisedSVC(unlabeled=-1, checkpoint=3).fit(X, Y)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        SemiSupervisedSVC(unlabeled=-1, checkpoint=tmp_path / "missing" / "fit").fit(X, Y)
