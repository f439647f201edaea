"""Benchmarks: what a fit costs beside scikit-learn on the same rows.

`workloads` says what is measured, `problems` makes the data, `adapters` holds one entry per competitor, `child` is the
fresh process that measures one fit, `runner` starts it and keeps the records, `table` and `plot` show them.
``wellsvm bench`` is the way in; nothing here is imported by ``import wellsvm``.
"""
