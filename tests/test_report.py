"""`wellsvm.report`: one page per model that needs nothing else, in every browser scheme and for every estimator."""

from __future__ import annotations

import pickle
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellsvm
from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm._report.people import MEANING
from wellsvm._report.svg import Line, histogram, line_chart
from wellsvm.baselines import MISVM, KernelKMeans
from wellsvm.datasets import make_two_moons
from wellsvm.engine.report import Status
from wellsvm.metrics import make_labeled_scorer

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MOONS = make_two_moons(n_samples=80, n_labeled=20, random_state=0)
HOSTILE = "<script>alert('&\"')</script>"


class Page(HTMLParser):
    """Tags, text and attributes of a page; fails where tags do not close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text += " " + data


def bags(names=(0, 1)):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 2)), np.arange(20) % 2
    X[::4][y == 1] += 2
    return Bags(X, np.repeat(np.arange(20), 4)), np.array(names)[y]


def three_classes(names):
    X = np.random.default_rng(0).standard_normal((60, 3)) + 3 * np.eye(3)[np.arange(60) % 3]
    y = np.array(names, dtype=object)[np.arange(60) % 3]
    y[30:] = None
    return X, y


def moons(model):
    return model.fit(MOONS.X, MOONS.y_partial), MOONS.X


def fitted(name):
    """A fitted model and rows to show the margins of."""
    plain = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, init="svm", random_state=0)
    if name == "two classes":
        return moons(plain)
    if name == "three classes":
        X, y = three_classes(["a", HOSTILE, "c"])
        return SemiSupervisedSVC(init="svm", random_state=0).fit(X, y), X
    if name == "cv":
        grid = {"Cs_unlabeled": [0.01, 0.1], "gammas": [0.5, 1, 2]}
        return moons(SemiSupervisedSVCCV(**grid, kernel="rbf", unlabeled=-1, cv=3, random_state=0))
    if name == "pipeline":
        return moons(make_pipeline(StandardScaler(), plain))
    if name == "search":
        return moons(GridSearchCV(plain, {"C": [1, 2]}, scoring=make_labeled_scorer(), cv=2))
    if name == "bags":
        instances, y = bags(["no", HOSTILE])
        return MultiInstanceSVC(positive_class=HOSTILE, random_state=0).fit(instances, y), instances
    if name == "rival":
        instances, y = bags()
        return MISVM(random_state=0).fit(instances, y), instances
    if name == "rival clusters":
        return KernelKMeans(random_state=0).fit(MOONS.X), MOONS.X
    if name == "many clusters":
        return MaxMarginClustering(14, random_state=0).fit(MOONS.X), MOONS.X
    if name == "one cluster":
        return MaxMarginClustering(1).fit(MOONS.X), MOONS.X
    if name == "pickled":
        return pickle.loads(pickle.dumps(moons(plain)[0])), MOONS.X
    raise KeyError(name)


NAMES = [
    "two classes", "three classes", "cv", "pipeline", "search", "bags", "rival", "rival clusters", "many clusters",
    "one cluster", "pickled",
]  # fmt: skip


@pytest.fixture(scope="module", params=NAMES)
def case(request, tmp_path_factory):
    """A model, its report and the file."""
    model, X = fitted(request.param)
    path = wellsvm.report(model, tmp_path_factory.mktemp("report") / "model.html", X=X)
    return request.param, model, path, Page(path.read_text(encoding="utf-8"))


def test_the_page_is_whole_and_refers_to_nothing_outside(case):
    _, _, path, page = case
    assert {"html", "head", "title", "style", "main"} <= set(page.tags)
    assert not {"script", "link", "iframe", "img", "object"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name in ("src", "href", "srcset") or name.startswith("on")]
    assert not re.search(r"url\(|@import|//", path.read_text(encoding="utf-8"))


def test_every_parameter_is_listed(case):
    _, model, _, page = case
    inner = getattr(model, "best_estimator_", model)
    inner = inner[-1] if hasattr(inner, "steps") else inner
    for name in inner.get_params(deep=False):
        assert re.search(rf"\b{name}\b", page.text), name


def test_each_kind_of_model_shows_what_it_has(case):
    name, model, _, page = case
    headings = {
        "two classes": {"What was found", "Least certain rows", "How the fit ended", "Convergence", "Label vectors"},
        "cv": {"Choice of C_unlabeled", "Convergence"},
        "bags": {"Convergence", "Key instances", "Margins"},
        "rival": {"Key instances", "Margins", "Parameters"},
        "many clusters": {"Convergence", "What was found"},
        "one cluster": {"What was found", "Parameters"},
        "pickled": {"Convergence", "Margins"},
    }
    for heading in headings.get(name, {"Parameters"}):
        assert heading in page.text
    if name == "two classes":
        assert f"{model.objective_:.6g}" in page.text
        assert str(model.status_) in page.text
        for label, count in zip(*np.unique(model.predict(MOONS.X), return_counts=True)):
            assert re.search(rf"\s{label}\s+{count}\s", page.text)
    if name == "three classes":  # why they ended, in the words of the explanation below; no "0 of 3 converged"
        for status in model.status_:
            assert f"{status} ({model.status_.count(status)} of 3)" in page.text
        assert "of 3 converged" not in page.text
    if name == "cv":
        assert "chosen" in page.text
        assert f"{model.C_unlabeled_:g}" in page.text
        assert f"{model.scores_.mean(axis=2).max():.5g}" in page.text
    if name == "rival":
        assert "Convergence" not in page.text
    if name == "many clusters":
        assert "division 12" in page.text
    if name == "pickled":
        assert "was saved or pickled" in page.text


def test_names_of_classes_are_text_not_markup(case):
    name, _, path, page = case
    if name in ("three classes", "bags"):
        assert HOSTILE in page.text
        assert "<script" not in path.read_text(encoding="utf-8")


def test_the_file_is_replaced_at_once_or_left_alone(tmp_path):
    model, X = fitted("two classes")
    path = tmp_path / "model.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="features"):
        wellsvm.report(model, path, X=X[:, :1])
    assert path.read_text() == "old"
    wellsvm.report(model, path, title="My <model>")
    assert "My &lt;model&gt;" in path.read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["model.html"]
    with pytest.raises(FileNotFoundError, match="does not exist"):
        wellsvm.report(model, tmp_path / "nowhere" / "model.html")


def test_the_same_model_gives_the_same_page(tmp_path):
    model, X = fitted("two classes")
    one, two = (wellsvm.report(model, tmp_path / name, X=X).read_text() for name in ("1.html", "2.html"))
    assert one == two


def test_a_model_must_be_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        wellsvm.report(SemiSupervisedSVC(), tmp_path / "model.html")


def coordinates(svg):
    return np.array([[float(v) for v in point] for point in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)])


@pytest.mark.parametrize("log", [False, True])
def test_a_chart_keeps_the_order_and_stays_inside_the_picture(log):
    values = [100.0, 3.0, 20.0, 0.004]
    points = coordinates(line_chart([Line("", [1, 2, 3, 4], values)], label="", x_label="", y_label="", log=log))
    assert np.all(np.diff(points[:, 0]) > 0)
    assert np.argsort(-points[:, 1]).tolist() == np.argsort(values).tolist()
    assert points.min() > 0
    assert np.all(points < [680, 260])


@pytest.mark.parametrize("value", [0.0, 5.0, -2.0])
def test_a_chart_of_a_single_or_constant_value_is_drawn(value):
    for x in ([1], [1, 2, 3]):
        points = coordinates(line_chart([Line("", x, [value] * len(x))], label="", x_label="", y_label=""))
        assert np.isfinite(points).all()


def test_a_histogram_counts_every_value():
    values = np.random.default_rng(0).standard_normal(500)
    svg = histogram(values, label="", x_label="", y_label="", levels=(0.0, 1.0))
    told = re.findall(r"<title>[^:]*: (\d+)</title>", svg)
    assert sum(map(int, told)) == 500


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium, the system's or Playwright's own."""
    playwright = pytest.importorskip("playwright.sync_api")
    system = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with playwright.sync_playwright() as driver:
        try:
            found = driver.chromium.launch(executable_path=system, args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip("no Chromium is installed")
        yield found
        found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_the_page_without_errors_and_without_requests(browser, tmp_path, scheme):
    model, X = fitted("three classes")
    path = wellsvm.report(model, tmp_path / "model.html", X=X)
    page = browser.new_page(color_scheme=scheme, viewport={"width": 400, "height": 800})
    told, asked = [], []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    assert not told
    assert asked == [path.as_uri()]
    brightness = "getComputedStyle({}).{}.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + +part, 0)"
    paper = page.evaluate(brightness.format("document.body", "backgroundColor"))
    ink = page.evaluate(brightness.format("document.body", "color"))
    assert (paper > 600 > 200 > ink) if scheme == "light" else (paper < 200 < 600 < ink)
    line = page.evaluate("getComputedStyle(document.querySelector('svg polyline')).stroke")
    assert re.match(r"rgb\(\d+, \d+, \d+\)", line)  # the color exists in this scheme
    assert page.evaluate("document.documentElement.scrollWidth") <= 400  # a telephone need not scroll sideways
    page.close()


@pytest.mark.parametrize("C_unlabeled", [0.0, 0.2])
def test_the_page_tells_class_shares_and_whether_unlabeled_rows_were_used(tmp_path, C_unlabeled):
    model = SemiSupervisedSVC(C_unlabeled=C_unlabeled, safe=False, unlabeled=-1, random_state=0)
    model.fit(MOONS.X, MOONS.y_partial)
    share, error, found = model.balance_[1], model.balance_se_[1], model.balance_found_[1]
    for shown in (model, pickle.loads(pickle.dumps(model))):
        text = Page(wellsvm.report(shown, tmp_path / "page.html").read_text("utf-8")).text
        assert re.search(rf"1\s+{share:.3g}\s+{error:.3g}\s+{found:.3g}\s", text)
        assert ("This model is the supervised SVM" in text) == (C_unlabeled == 0)


def test_names_of_classes_are_escaped_in_the_shares(tmp_path):
    X, y = three_classes(["a", HOSTILE, "c"])
    model = SemiSupervisedSVC(random_state=0, safe=False).fit(X, y)
    page = Page(wellsvm.report(model, tmp_path / "page.html", X=X, y=y).read_text("utf-8"))
    assert page.text.count(HOSTILE) >= 3
    assert "script" not in page.tags


def test_with_labels_the_page_counts_labeled_found_and_uncertain_rows(tmp_path):
    model = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, safe=False, random_state=0).fit(MOONS.X, MOONS.y_partial)
    text = Page(wellsvm.report(model, tmp_path / "p.html", X=MOONS.X, y=MOONS.y_partial).read_text("utf-8")).text
    values, free = np.abs(model.decision_function(MOONS.X)), MOONS.y_partial == -1
    figures = (len(free), np.sum(~free), np.sum(free), np.sum(free & (values < 1)))
    for figure, name in zip(figures, ("rows", "labeled", "labels found", "uncertain")):
        assert re.search(rf"\b{figure}\s+{name}\b", text), name
    least = np.flatnonzero(free)[np.argsort(values[free], kind="stable")[:10]]
    listed = text[text.index("Least certain rows") :]
    for row in least:
        assert re.search(rf"\s{row}\s+{model.predict(MOONS.X[[row]])[0]}\s+{values[row]:.5g}\s", listed)


def test_the_supervised_svm_stands_beside_the_model(tmp_path):
    scaled = make_pipeline(StandardScaler(), SemiSupervisedSVC(kernel="rbf", unlabeled=-1, safe=False, random_state=0))
    scaled.fit(MOONS.X, MOONS.y_partial)
    text = Page(wellsvm.report(scaled, tmp_path / "p.html", X=MOONS.X, y=MOONS.y_partial).read_text("utf-8")).text
    free, Z = MOONS.y_partial == -1, scaled[:-1].transform(MOONS.X)
    gamma = scaled[-1]._kernel.gamma
    plain = SemiSupervisedSVC(
        kernel="rbf", gamma=gamma, C_unlabeled=0, balance="labels", unlabeled=None, random_state=0
    )
    same = plain.fit(Z[~free], MOONS.y_partial[~free]).predict(Z[free]) == scaled.predict(MOONS.X)[free]
    assert f"predicts the same class for {100 * same.mean():.1f} % of the unlabeled rows" in " ".join(text.split())


@pytest.mark.parametrize(
    "model",
    [SemiSupervisedSVCCV(Cs_unlabeled=[0.2], cv=3, random_state=0), SemiSupervisedSVC(neighbors=4, safe=False)],
    ids=["search over neighbours", "neighbours"],
)
def test_the_supervised_svm_knows_no_neighbours(model, tmp_path):
    X, y = three_classes(["a", "b", "c"])
    model.fit(X, y).used_unlabeled_ = True  # whatever the folds said: it is the page that is tried
    text = Page(wellsvm.report(model, tmp_path / "p.html", X=X, y=y).read_text("utf-8")).text
    assert "predicts the same class for" in " ".join(text.split())


def test_every_ending_is_explained_with_what_to_do():
    assert set(MEANING) == set(Status)
    for meaning, act in MEANING.values():
        assert meaning.endswith(".")
        assert act.endswith(".")


def test_labels_of_another_number_are_refused(tmp_path):
    model = SemiSupervisedSVC(unlabeled=-1, random_state=0).fit(MOONS.X, MOONS.y_partial)
    with pytest.raises(ValueError, match="y has 3 entries"):
        wellsvm.report(model, tmp_path / "p.html", X=MOONS.X, y=[0, 1, -1])


def test_verbose_ends_with_what_was_found(caplog):
    caplog.set_level("INFO", logger="wellsvm")
    model = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, verbose=1, random_state=0).fit(MOONS.X, MOONS.y_partial)
    told = caplog.text
    n_labeled, n = np.sum(MOONS.y_partial != -1), len(MOONS.X)
    assert f"{n} rows: {n_labeled} labeled, {n - n_labeled} found (" in told
    assert "uncertain (inside the margin)" in told
    assert told.rstrip().endswith(f"ended: {model.status_}")
