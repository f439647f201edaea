"""The protocol of a table of the paper, read from a small file: what is compared, on what, how often, their figures.

The files lie beside this one in ``protocols``; README.md there says what each key means.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from experiments.data_folder import STAND_INS

__all__ = ["AS_IN_PAPER", "Case", "Protocol", "load_protocol", "method_name", "paper_name", "tables"]

# How the column of the paper's own algorithm and protocol is called, or begins; its figure in the paper is WellSVM's.
AS_IN_PAPER = "as in the paper"


def method_name(column: str) -> str:
    """The method of a column: "SVM: in [0, 1]" is the method "SVM" in settings of its own."""
    return column.partition(": ")[0]


def paper_name(column: str) -> str:
    """What the paper calls the method of a column."""
    method = method_name(column)
    return "WellSVM" if method.startswith(AS_IN_PAPER) else method


@dataclass(frozen=True)
class Case:
    """A row of a table: a data set, in a setting.

    Attributes
    ----------
    name : str
        As the paper calls it.
    data : str
        As `experiments.data_sets.load_set` calls it.
    paper : dict
        The paper's figure of each method; a method without one was not run there.
    paper_std : dict
        The standard deviations of the paper's runs, where they are needed.
    settings : dict
        What differs from the settings of the table.
    skip : dict
        Why a method is not run on this case.
    repeats : dict
        Methods that are run less often than the table says.
    note : str or None
        Why the data are not the paper's, where `STAND_INS` does not say it.
    real : str or None
        The paper's own data: where `experiments.data_sets.load_set` finds them, they are used in place of ``data``.
    balance : float or None
        The only one of the balances of a grid that is used on this case; None uses all.
    """

    name: str
    data: str
    paper: dict[str, float] = field(default_factory=dict)
    paper_std: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    skip: dict[str, str] = field(default_factory=dict)
    repeats: dict[str, int] = field(default_factory=dict)
    note: str | None = None
    real: str | None = None
    balance: float | None = None

    def with_real_data(self) -> Case:
        """The case on the paper's own data, under the paper's name for it."""
        return replace(self, data=self.real or self.data, name=self.name.partition(", as ")[0], note=None)

    @property
    def stand_in(self) -> str | None:
        """Why this is not, or not surely, the paper's data; None where it is."""
        return self.note or STAND_INS.get(self.data)


@dataclass(frozen=True)
class Protocol:
    """A table of the paper.

    Attributes
    ----------
    table : str
        Its number, or "figure-...".
    title, notes : str
        What it shows; what we had to choose because the paper does not say it.
    experiment : str
        Which module of `experiments.paper` runs it, see `experiments.paper.plan.EXPERIMENTS`.
    figure : str
        What is compared: "accuracy", "error" (in per cent), "success rate" or "adjusted Rand index".
    methods : tuple of str
        In the order of the columns.
    reference : str or None
        The method the others are tested against.
    repeats : int
        Runs of every case and method.
    settings : dict
        Of the experiment.
    cases : tuple of Case
        The rows.
    own : dict
        Settings of some of the methods, by their names.
    same_choice : tuple of str
        Methods of a second block, which gives all of them the same choice or knowledge.
    same_choice_means : str
        Which one.
    paper_repeats : int
        Runs behind the paper's figures; 0: as many as ours.
    on_request : bool
        Whether it is run only where it is named: an experiment that has as many runs as a question needs.
    """

    table: str
    title: str
    experiment: str
    figure: str
    methods: tuple[str, ...]
    repeats: int
    cases: tuple[Case, ...]
    reference: str | None = None
    notes: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    own: dict[str, dict[str, Any]] = field(default_factory=dict)
    same_choice: tuple[str, ...] = ()
    same_choice_means: str = ""
    paper_repeats: int = 0
    on_request: bool = False

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger figure is a better one."""
        return self.figure != "error"

    @property
    def runs_of_paper(self) -> int:
        """Runs behind a figure of the paper."""
        return self.paper_repeats or self.repeats

    @property
    def all_methods(self) -> tuple[str, ...]:
        """Methods of both blocks."""
        return tuple(dict.fromkeys((*self.methods, *self.same_choice)))


@cache
def tables() -> tuple[str, ...]:
    """Names of all protocols, in the paper's order."""
    names = (path.name.removesuffix(".toml") for path in files(__package__).joinpath("protocols").iterdir())
    found = [name.removeprefix("table-") for name in names if not name.endswith(".md")]
    return tuple(sorted(found, key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name)))


def load_protocol(table: str, fast: bool = False) -> Protocol:
    """Read a protocol; ``fast`` is the small one that its file describes under the same keys in [fast]."""
    content = _content(table)
    small = content.pop("fast", {})
    cases = tuple(Case(**case) for case in content.pop("cases"))
    content |= {name: tuple(content[name]) for name in ("methods", "same_choice") if name in content}
    protocol = Protocol(table=table, cases=cases, **content)
    return _made_fast(protocol, **small) if fast else protocol


def _content(table: str) -> dict[str, Any]:
    """What a file says; one that is like another has that one's keys where it has none of its own.

    One that is like several has the cases of all of them, which must differ in their share of labels alone. A list of
    names for cases takes these of the others'.
    """
    if table not in tables():
        raise ValueError(f"table={table!r} is not one of {', '.join(tables())}")
    name = f"table-{table}.toml" if table.isdigit() else f"{table}.toml"
    content = tomllib.loads(files(__package__).joinpath("protocols", name).read_text(encoding="utf-8"))
    others = content.pop("like", None)
    if others is None:
        return content
    if isinstance(others, str):
        other = _content(others)
        if content.get("figure", other["figure"]) != other["figure"]:  # then the paper's are of another kind
            other["cases"] = [{**case, "paper": {}, "paper_std": {}} for case in other["cases"]]
    else:
        other = _content(others[0]) | {"cases": [case for table in others for case in _by_labels(table)]}
    named = content.pop("cases", None)
    if named is not None and isinstance(named[0], dict):
        other["cases"] = named
    elif named is not None:
        if unknown := set(named) - {case["name"] for case in other["cases"]}:
            raise ValueError(f"{name}: no {', '.join(sorted(unknown))} among the cases of {others}")
        other["cases"] = [case for case in other["cases"] if case["name"] in named]
    content = other | content
    content["cases"] = [_of_methods(case, content["methods"]) for case in content["cases"]]
    return content


def _by_labels(table: str) -> list[dict[str, Any]]:
    """The cases of a table, named and set by its share of labels, so that they can stand beside those of others."""
    content = _content(table)
    share = content["settings"]["labeled"]
    return [
        case
        | {"name": f"{case['name']}, {100 * share:g} %", "settings": {"labeled": share, **case.get("settings", {})}}
        for case in content["cases"]
    ]


def _of_methods(case: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    """A case without what it says of methods that have no column."""
    kept = {*columns, *map(paper_name, columns)}
    tables = {key: case[key] for key in ("paper", "paper_std", "skip", "repeats") if key in case}
    return case | {key: {m: v for m, v in table.items() if m in kept} for key, table in tables.items()}


def _made_fast(
    protocol: Protocol,
    repeats: int = 2,
    cases: list[str] | None = None,
    methods: list[str] | None = None,
    settings: dict[str, Any] | None = None,
) -> Protocol:
    return replace(
        protocol,
        title=f"{protocol.title} (a small part of it: --fast)",
        repeats=repeats,
        on_request=False,
        methods=protocol.methods if methods is None else tuple(methods),
        same_choice=protocol.same_choice if methods is None else (),
        cases=tuple(case for case in protocol.cases if cases is None or case.name in cases),
        settings=protocol.settings | (settings or {}),
    )
