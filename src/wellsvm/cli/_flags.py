"""Messages of the library in the words of the command line: flags in place of parameters."""

from __future__ import annotations

import re

__all__ = ["in_flags"]

FLAGS = {
    "C": "--C", "C_unlabeled": "--C-unlabeled", "C_positive": "--C-positive", "C_negative": "--C-negative",
    "max_iter": "--max-iter", "tol": "--tol", "positive_class": "--positive-class", "n_clusters": "--clusters",
    "n_key_instances": "--key-instances", "n_init": "--starts", "n_jobs": "--jobs", "random_state": "--seed",
    "kernel": "--kernel", "gamma": "--gamma", "degree": "--degree", "coef0": "--coef0", "loss": "--loss",
    "balance": "--balance", "search": "--search", "oracle": "--oracle", "unlabeled": "--unlabeled", "cv": "--folds",
}  # fmt: skip
# Words that are also English, or letters of the mathematics: flags only before "=" or "must".
WORDS = {"kernel", "gamma", "degree", "loss", "balance", "search", "oracle", "unlabeled", "cv"}
NAME = "|".join(sorted(FLAGS, key=len, reverse=True))
GIVEN = re.compile(rf"(?<![\w.-])({NAME})=('[^']*'|\"[^\"]*\"|\{{[^}}]*\}}|\([^)]*\)|[^\s;,.:)]+(?:\.\d+)?)")
MUST = re.compile(rf"(?<![\w.-])({NAME})(?= must )")
BARE = re.compile(rf"(?<![\w.'\"-])({'|'.join(sorted(set(FLAGS) - WORDS, key=len, reverse=True))})(?![\w'\"=])")
SWITCHES = {
    "safe=False": "--no-safe", "safe=True": "--safe", "refine=False": "--no-refine", "refine=True": "--refine",
}  # fmt: skip


def in_flags(text: str) -> str:
    """The message with ``max_iter`` as ``--max-iter``, ``unlabeled=None`` as ``--unlabeled none`` and so on."""
    for given, flag in SWITCHES.items():
        text = re.sub(rf"(?<![\w.]){given}\b", flag, text)
    text = GIVEN.sub(lambda match: f"{FLAGS[match[1]]} {_typed(match[2])}", text)
    text = MUST.sub(lambda match: FLAGS[match[1]], text)
    return BARE.sub(lambda match: FLAGS[match[1]], text)


def _typed(value: str) -> str:
    """A value of Python as one types it."""
    if value == "None":
        return "none"
    return value[1:-1] if value[:1] in "'\"" and " " not in value else value
