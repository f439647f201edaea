"""``wellsvm info``: what a saved model is."""

from __future__ import annotations

from typing import Any

from wellsvm.cli import _options as option

__all__ = ["info"]


def info(model_file: option.ModelFile, as_json: option.Json = False) -> None:
    """Describe a saved model.

    Prints its parameters, classes, convergence and versions.
    """
    from wellsvm import load
    from wellsvm._fitted_runs import final_estimator
    from wellsvm.cli._console import told_in_one_line, warnings_as_lines
    from wellsvm.cli._prediction import width_of
    from wellsvm.cli._summary import engine_facts, plain, print_json, print_table
    from wellsvm.persistence import read_mark

    with told_in_one_line(), warnings_as_lines():
        model, mark = load(model_file), read_mark(model_file)
    last = final_estimator(model)
    facts: dict[str, Any] = {
        "file": str(model_file),
        "model": type(last).__name__,
        "pipeline": [type(step).__name__ for _, step in model.steps] if last is not model else None,
        "features": width_of(model),
        "classes": getattr(last, "classes_", None),
        "positive_class": getattr(last, "positive_class_", None),
        **engine_facts(last),
        "parameters": last.get_params(deep=False),
        "versions": mark["versions"],
        "format": mark["format"],
        "training": mark["notes"].get("training"),
    }
    facts = {name: plain(value) for name, value in facts.items() if value is not None}
    if as_json:
        print_json(facts)
        return
    try:
        rows = _rows(facts)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):  # notes that `wellsvm fit` never wrote
        rows = _rows({name: value for name, value in facts.items() if name != "training"})
    print_table(facts["model"], rows)


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    from wellsvm.cli._summary import rows_of_engine, rows_of_summary

    training = facts.get("training")
    rows = [("file", facts["file"])]
    if "pipeline" in facts:
        rows.append(("pipeline", " > ".join(facts["pipeline"])))
    if training is None:
        rows.append(("features", str(facts.get("features", "not known"))))
        rows += [("classes", ", ".join(str(name) for name in facts["classes"]))] if "classes" in facts else []
        rows += [("positive class", str(facts["positive_class"]))] if "positive_class" in facts else []
        rows += rows_of_engine(facts)
    else:
        rows += [(name, text) for name, text in rows_of_summary(training) if name != "model"]
    rows.append(("saved with", ", ".join(f"{name} {text}" for name, text in facts["versions"].items())))
    rows.append(("", ""))
    return rows + [(name, str(facts["parameters"][name])) for name in sorted(facts["parameters"], key=str.lower)]
