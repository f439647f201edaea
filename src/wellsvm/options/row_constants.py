"""Constants of rows: pieces, blocks, kernel matrices."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RowConstants"]


@dataclass(frozen=True, kw_only=True)
class RowConstants:
    """Each with its reason below it."""

    largest_count: int = 2**62
    """Largest number that a label set may be given: sums of two stay within int64."""
    rounding: float = 1e-9
    """Share by which a count, the product of a share and a number of rows, may miss the whole number it is meant to be:
    far above the rounding of such products, 1e-16, and far below one row in any number of rows."""

    # ------------------------------------------------------------------ linear rows

    matrix_rows: int = 500
    """Labeled rows up to which the SVMs of estimated shares are solved on the matrix of inner products, of 2 MB
    (docs/performance.md)."""
    pieces_per_call: int = 100
    """Pieces of dense rows in what a native call may take: one, 200,000 numbers, stays in the cache while several
    columns look at it."""
    vector_piece: int = 10_000
    """Entries of vectors of all rows that are worked on at a time, so that nothing on the way is as long: 80 kB, which
    stay in the cache."""
    least_work_for_threads: int = 1_000_000
    """Multiply-adds of a pass from which threads pay: they take about a millisecond, ten times the start of a
    thread."""
    thread_pieces: int = 20
    """How much smaller the pieces of a pass are with threads, so that all of them have some."""

    most_made_dense: int = 10_000_000
    """Entries of sparse rows with long columns, zeros included, up to which they are made dense: 80 MB."""
    nearly_full: float = 0.6
    """Share of stored entries from which sparse rows with columns far from 0 are made dense, which takes hardly more
    memory than they do."""
    column_sample: int = 2000
    """Rows by which columns are compared: with no more than these, in whatever order, all of them. With 200, which
    columns are far from 0 was a matter of the order where they lie about `far_columns` spreads from it."""
    far_columns: float = 4.0
    """Dense columns whose mean is this many times their spread from 0 are seen from their mean where there is an
    intercept (docs/choices_constants.md, columns far from 0)."""

    # ------------------------------------------------------------------ rows in blocks

    piece_bytes: int = 4_000_000
    """Rows that are copied out of blocks, made or sent at once, in bytes: small beside any budget, and long enough that
    a call for them costs little."""
    working_share: float = 0.6
    """Share of the memory allowed that working rows may take, ..."""
    part_share: float = 0.2
    """... and that of the rows of some instances alone (labeled rows, samples), beyond which they stay in blocks; what
    is left, a fifth, is for pieces on the way."""
    visited_at_once: int = 16_384
    """Working rows in blocks that one call visits: what the loops read of them (dual variables, penalties, labels) is
    copied beside each other, 50 bytes a row, and a call for fewer would cost more than the copies."""
    block_bytes: int = 128_000_000
    """Size of a block on disk: long enough to be read at the speed of the disk, and no more files than needed."""
    most_open_blocks: int = 200
    """Blocks on disk mapped at once: each takes three of the files, often 1024, that a process may have open."""
    dask_look: float = 1.0
    """Seconds between two looks at the workers while tasks run."""
    dask_group: int = 16
    """Results of tasks that are fetched at once: more would have to fit into memory beside each other."""
    dask_attempts: int = 5
    """How often a pass is sent out anew after it failed or stood still; each failure may be a worker that died."""

    # ------------------------------------------------------------------ kernel matrices

    value_cost: float = 10.0
    """Multiply-adds that the exponential of one kernel value costs, to keep native calls short: wrong by a factor of
    five, a call would still end within 100 ms."""
    product_speed: float = 20.0
    """How many times quicker than a loop a product of matrices is, for the same purpose."""
    large_page: int = 1 << 21
    """Bytes of a large page on common processors. Kernel matrices of half of that or more are asked for in such pages:
    the small ones of two matrices of 1,000 rows took a tenth of a fit (docs/performance.md)."""
    kernel_block: int = 64
    """Rows of a kernel matrix that are computed at once: their exponents stay in the cache, and what is copied below
    the diagonal are whole cache lines."""
    near_enough: float = 4.0
    """Largest gamma ||x||^2 of centered rows up to which the exponents of a Gaussian matrix are computed in single
    precision, as their values are kept."""
    rounding_dense: float = 1e-28
    """Scatter of dense rows below this share of their squares is rounding: float64's, squared."""
    rounding_sparse: float = 1e-12
    """The same for sparse rows, whose scatter is a difference of large sums."""
    symmetry: float = 1e-4
    """Relative difference of K and its transpose above which a user's matrix is refused; float32 leaves 1e-6."""
    most_scale: float = 1e15
    """Largest product of C and a kernel value: beyond, the rounding of float64 outweighs the ridge 1 / C."""
    largest_kernel_value: float = 1e-4
    """Larger values of a user's matrix are refused, relative to the largest number of its dtype: sums of some thousand
    would overflow."""
    symmetry_floor: float = 1e-6
    """The same for entries near 0, relative to the largest."""
    symmetry_square: int = 256
    """Rows of the squares in which a matrix is compared with its transpose: two of them fit into a processor's cache.
    On 5,256 rows 128 and 256 take a tenth of the time of comparing whole matrices, 64 and 512 half as much again."""
    neighbor_strength: float = 10.0
    """How far a kernel is deformed by a graph of neighbors: as measured on version 0.1
    (docs/choices_few_labels.md)."""
    most_for_factors: float = 1e4
    """Largest kernel value of a row with itself for which the deformed kernel comes from LU factors, which are quick
    but lose digits as it rises: 300 rows of 20 normal columns times 10, 1e3 and 1e5 leave errors of 2e-10, 3e-6 and
    2e-2 relative to the deformed kernel, its roots 2e-15."""
    neighbor_matrices: int = 5
    """Matrices of float64 of the size of K that the deformed kernel needs at once: K, distances or the system and its
    factors, the deformed one, the mixed one."""
    batch: int = 4_000_000
    """Kernel values computed at once where the matrix is kept in part: enough for a product of matrices to pay."""
    diagonal_block: int = 64
    """Side of the blocks that the diagonal of a kernel is taken from: of a block of b, b of b^2 values are used."""
