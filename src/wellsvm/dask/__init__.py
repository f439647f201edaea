"""Rows on a Dask cluster: workers pass over their partitions, this process descends on copies of the working rows.

Every task is a pure function of its arguments and has a key of its own, so that the scheduler can run it again anywhere
when a worker is lost. What all tasks of a pass need is sent as the result of a task, since scattered data cannot be
recovered. What comes back is taken in the order of the partitions: results do not depend on the number of workers.
"""

try:
    from wellsvm.dask.blocks import DaskRows
    from wellsvm.dask.cluster import NoWorkersError
    from wellsvm.dask.lazy import lazily
    from wellsvm.dask.partitions import fetched, rows
except ImportError as error:
    raise ImportError("wellsvm.dask needs dask and distributed: pip install 'wellsvm[dask]'") from error

__all__ = ["DaskRows", "NoWorkersError", "fetched", "lazily", "rows"]
