// What the kernels see of the caller's memory: borrowed pointers, nothing owned, nothing copied.
//
// This header holds plain data only. Code lives in the per-processor namespace of kernels.cpp: an inline function here
// would be compiled once per instruction set and the linker would keep any one of the copies.
#pragma once

#include <cstdint>

namespace wellsvm {

// Rows of a dense C-contiguous matrix: all of them, or those at hand, row i at places[i] of n_held. Rows that are
// Shifted are seen from `origin`: it is taken off each of them as they are read.
template <class Real, bool Shifted = false> struct DenseRows {
    const Real *data;
    std::int64_t n_rows, n_features, n_held;
    const std::int64_t *places; // null where row i is at i
    const double *origin;       // null unless Shifted
};

// Rows of a compressed sparse row matrix, of whose arrays `data` and `indices` hold n_entries; places as above.
template <class Real, class Index> struct CsrRows {
    const Real *data;
    const Index *indices, *indptr;
    std::int64_t n_rows, n_features, n_entries, n_held;
    const std::int64_t *places;
};

// Rows of a symmetric kernel matrix: all of them, or those at hand, row j at places[j] (negative: not at hand).
template <class Real> struct GramRows {
    const Real *data;
    std::int64_t n_rows, n_instances;
    const std::int64_t *places; // null where row j is at j
};

// The dual box-constrained problem, one variable alpha[i] per row i. Row i is made of the instances
// starts[i] .. starts[i + 1] - 1, or of instance i alone where `starts` is null.
//     curvature[i] >= sum_t mu_t || psi_t(i) ||^2 + ridge[i]
// ridge[i] = 0 and a finite cap: hinge loss. ridge[i] = 1 / C_i and cap = inf: squared hinge loss.
struct DualRows {
    const std::int64_t *starts;
    const double *cap, *ridge, *curvature;
    double *alpha;
};

// The current label vectors, interleaved: labels[instance * width + t] in {-1, 0, +1}, and their weights mu.
struct LabelColumns {
    const std::int8_t *labels;
    const double *mu;
    double *scratch; // 2 * width doubles, for widths that have no template of their own
    std::int64_t width;
};

// Label columns of the Gram kernel: instances that carry the same labels in all T vectors share a pattern.
struct LabelPatterns {
    const std::int32_t *pattern_of; // per instance
    const std::int8_t *patterns;    // width x n_patterns
    const double *mu;
    std::int64_t n_patterns, width;
};

// What one slice of an epoch saw. `loss` sums the rows' losses at the moment each was visited, an estimate of the
// primal that costs nothing; `violation` is the largest projected gradient. Not `in_bounds`: ended at a sparse row that
// points outside the matrix.
struct LinearReport {
    double violation, loss;
    bool in_bounds;
};

// The same of a kernel matrix, where a row that changes costs a row of the matrix: how many did.
struct GramReport {
    double violation, loss;
    std::int64_t n_changed;
};

// When epochs on an SVM end: at a projected gradient, at a gap relative to the objective, or after so many of them or
// of changes. Rows whose projected gradient is at most `patience` of the largest one wait for the next epoch.
struct Ending {
    double goal, tol, patience;
    std::int64_t most_epochs, most_changes;
};

// How they ended: exact, since a look at all rows comes last. `half` is half the squared norm, `linear` the part of the
// dual that does not know the data: the bounds are half + loss and linear - half. All are 0 where f was too far behind
// for a look.
struct SvmReport {
    double violation, loss, half, linear;
    std::int64_t n_changed, n_epochs;
    bool solved;
};

} // namespace wellsvm
