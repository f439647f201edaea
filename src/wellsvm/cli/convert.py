"""``wellsvm convert``: a file of rows becomes a folder of blocks, a batch of rows in memory at a time."""

from __future__ import annotations

from wellsvm.cli import _options as option
from wellsvm.cli._formats import Format, Layout

__all__ = ["convert"]


def convert(
    data: option.Data,
    folder: option.RowsFolder,
    form: option.How = Format.AUTO,
    label: option.ConvertedLabel = None,
    bag: option.ConvertedBag = None,
    ignore: option.Ignore = None,
    zero_based: option.ZeroBased = None,
    single: option.Single = False,
    block_rows: option.BlockRows = None,
    quiet: option.Quiet = False,
) -> None:
    """Turn a data file into a folder of blocks.

    Use it for data that do not fit in memory. svmlight (also .gz and .bz2), CSV and Parquet files are read in batches
    of rows. With the linear kernel, fit and predict accept the folder in place of a file.
    """
    from wellsvm.cli._conversion import run

    layout = Layout(label=label, bag=bag, ignore=ignore or (), zero_based=zero_based)
    run(data, folder, form, layout, single, block_rows, quiet)
