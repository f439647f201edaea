"""Benchmarks: what a fit costs beside scikit-learn on the same rows. ``make bench``.

`workloads` says what is measured, `contest_data` makes the data, `competitors` holds one entry per competitor, `child`
is the fresh process that measures one fit, `process` starts it, `rounds` plans the measurements, `lines` and `curves`
show them.
"""
