"""All that the experiments take from the inside of wellsvm; elsewhere they use its public names only."""

from wellsvm import threads
from wellsvm._files import replacing
from wellsvm._report.page import Raw, legend, page, section, table
from wellsvm._report.svg import MOST_COLOURS, WIDTH, picture, round_ticks, tick_texts
from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm._versions import versions
from wellsvm.datasets._text import document_frequency, tfidf_in_place
from wellsvm.options import Options

__all__ = [
    "MOST_COLOURS",
    "WIDTH",
    "FloatArray",
    "IntArray",
    "Matrix",
    "Options",
    "Raw",
    "document_frequency",
    "legend",
    "page",
    "picture",
    "replacing",
    "round_ticks",
    "section",
    "table",
    "tfidf_in_place",
    "threads",
    "tick_texts",
    "versions",
]
