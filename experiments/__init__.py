"""What wellsvm was measured with: the paper's tables, benchmarks, studies of defaults. Not installed with the package.

    python -m experiments reproduce 6 7        the paper's tables (`make reproduce TABLES="6 7"`)
    python -m experiments bench                time and memory beside scikit-learn (`make bench PROFILE=small`)
    python -m experiments study text           accuracies behind the defaults (`make study STUDIES=text`)

The three kinds share one plan of splits (`splits`), one runner (`runner`) with one journal (`journal`), one meter of
memory (`memory`), one writer of tables (`markdown`) and one filler of pages (`marked_places`). The folder ``results``
keeps what was measured.
"""
