// One loop over the entries of a row, dense or sparse.
//
// The arrays of a sparse matrix are the caller's, and another thread may write into them at any time. So the kernels
// trust no index: each is read once and compared with its limit before it is used (columns.hpp). A function that
// returns a bool returns false, with its work half done, where a row points outside the matrix or is not at hand;
// docs/performance.md has the cost.
#pragma once

#include "columns.hpp"
#include "doubles.hpp"
#include "prefetch.hpp"
#include "views.hpp"

namespace wellsvm::WELLSVM_ISA {

// Where row i lies; false where it is not at hand.
template <class Rows> inline bool find_row(const Rows &X, std::int64_t &i) {
    if (!X.places) return true;
    i = static_cast<std::int64_t>(read_once(X.places + i));
    return static_cast<std::uint64_t>(i) < static_cast<std::uint64_t>(X.n_held);
}

// Find the entries first .. end - 1 of row i.
template <class Real, class Index>
inline bool find_entries(const CsrRows<Real, Index> &X, std::int64_t i, std::int64_t &first, std::int64_t &end) {
    if (!find_row(X, i)) return false;
    const std::uint64_t from = read_once(X.indptr + i), to = read_once(X.indptr + i + 1);
    first = static_cast<std::int64_t>(from);
    end = static_cast<std::int64_t>(to);
    return from <= to && to <= static_cast<std::uint64_t>(X.n_entries);
}

// Entry k of a dense row that lies at x.
template <class Real, bool Shifted>
inline double entry(const DenseRows<Real, Shifted> &X, const Real *x, std::int64_t k) {
    if constexpr (Shifted) return static_cast<double>(x[k]) - X.origin[k];
    return static_cast<double>(x[k]);
}

// Call f(feature, value) for each stored entry of row i.
template <class Real, bool Shifted, class F>
inline bool for_entries(const DenseRows<Real, Shifted> &X, std::int64_t i, F &&f) {
    if (!find_row(X, i)) return false;
    const Real *x = X.data + i * X.n_features;
    for (std::int64_t k = 0; k < X.n_features; ++k) f(k, entry(X, x, k));
    return true;
}

template <class Real, class Index, class F>
inline bool for_entries(const CsrRows<Real, Index> &X, std::int64_t i, F &&f) {
    const Real *const data = X.data;
    const Index *const indices = X.indices;
    std::int64_t p, end;
    if (!find_entries(X, i, p, end)) return false;
    constexpr int many = many_columns<Index>;
    Columns<Index, many> columns(X.n_features);
    for (; p + many <= end; p += many) {
        if (!columns.read(indices + p)) return false;
        for (int c = 0; c < many; ++c) f(static_cast<std::int64_t>(columns[c]), static_cast<double>(data[p + c]));
    }
    const std::uint64_t n_features = static_cast<std::uint64_t>(X.n_features);
    for (; p < end; ++p) {
        const std::uint64_t k = read_once(indices + p);
        if (k >= n_features) return false;
        f(static_cast<std::int64_t>(k), static_cast<double>(data[p]));
    }
    return true;
}

// Its columns are not looked at: none is used.
template <class Real, bool Shifted>
inline bool squared_norm(const DenseRows<Real, Shifted> &X, std::int64_t i, double &sum) {
    return for_entries(X, i, [&sum](std::int64_t, double x) { sum += x * x; });
}

template <class Real, class Index>
inline bool squared_norm(const CsrRows<Real, Index> &X, std::int64_t i, double &sum) {
    std::int64_t p, end;
    if (!find_entries(X, i, p, end)) return false;
    for (; p < end; ++p) {
        const double x = static_cast<double>(X.data[p]);
        sum += x * x;
    }
    return true;
}

// row_scores: z = x_i' U + bias * U[last]; W label vectors at once, W known to the compiler unless it is 0.

// Sparse rows; with few label vectors in four chains of sums.
template <int W, class Real, class Index>
inline bool row_scores(const CsrRows<Real, Index> &X, std::int64_t i, const double *U, std::int64_t width, double bias,
                       double *z) {
    const std::int64_t w = W ? W : width;
    const std::uint64_t n_features = static_cast<std::uint64_t>(X.n_features);
    const Real *const data = X.data;
    const Index *const indices = X.indices;
    std::int64_t p, end;
    if (!find_entries(X, i, p, end)) return false;
    for (std::int64_t t = 0; t < w; ++t) z[t] = bias * U[X.n_features * w + t];
    if constexpr (W == 1 || W == 2 || W == 4) {
        constexpr int many = many_columns<Index>;
        Chains<W> chains;
        Columns<Index, many> columns(X.n_features);
        for (; p + many <= end; p += many) {
            if (!columns.read(indices + p)) return false;
            for (int c = 0; c < many; c += 4) chains.add(data + p + c, columns, c, U);
        }
        if (many > 4 && p + 4 <= end) {
            Columns<Index, 4> four(X.n_features);
            if (!four.read(indices + p)) return false;
            chains.add(data + p, four, 0, U);
            p += 4;
        }
        chains.add_to(z);
    }
    double fixed[W ? W : 1]; // registers, while z would be stored at every entry that may be the last
    double *const sum = W ? fixed : z;
    for (int t = 0; t < W; ++t) fixed[t] = z[t];
    for (; p < end; ++p) {
        const std::uint64_t k = read_once(indices + p);
        if (k >= n_features) return false;
        const double x = static_cast<double>(data[p]);
        const double *u = U + k * w;
#pragma omp simd // else the compiler unrolls 8 and 16 into single sums
        for (std::int64_t t = 0; t < w; ++t) sum[t] += x * u[t];
    }
    for (int t = 0; t < W; ++t) z[t] = fixed[t];
    return true;
}

// A single vector over a dense row is a dot product: eight partial sums, so that it runs in SIMD without
// giving the compiler leave to reorder every sum of the program.
template <int W, class Real, bool Shifted>
inline bool row_scores(const DenseRows<Real, Shifted> &X, std::int64_t i, const double *U, std::int64_t width,
                       double bias, double *z) {
    const std::int64_t d = X.n_features;
    if (!find_row(X, i)) return false;
    const Real *x = X.data + i * d;
    if constexpr (W == 1) {
        double sums[8] = {};
        std::int64_t k = 0;
        for (; k + 8 <= d; k += 8)
            for (int j = 0; j < 8; ++j) sums[j] += entry(X, x, k + j) * U[k + j];
        double rest = bias * U[d];
        for (; k < d; ++k) rest += entry(X, x, k) * U[k];
        z[0] = rest + ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    } else {
        const std::int64_t w = W ? W : width;
        for (std::int64_t t = 0; t < w; ++t) z[t] = bias * U[d * w + t];
        for (std::int64_t k = 0; k < d; ++k)
            for (std::int64_t t = 0; t < w; ++t) z[t] += entry(X, x, k) * U[k * w + t];
    }
    return true;
}

// U += [x_i; bias] step'
template <int W, class Rows>
inline bool row_update(const Rows &X, std::int64_t i, const double *step, std::int64_t width, double bias, double *U) {
    const std::int64_t w = W ? W : width;
    bool in_bounds;
    if constexpr (W == 1 || W == 2 || W == 4) {
        const Doubles<W> steps = load<W>(step); // in a register: for all the compiler knows, U may lie over step
        in_bounds = for_entries(X, i, [=](std::int64_t k, double x) {
            double *u = U + k * W;
            store<W>(u, load<W>(u) + x * steps);
        });
    } else {
        in_bounds = for_entries(X, i, [=](std::int64_t k, double x) {
            double *u = U + k * w;
            for (std::int64_t t = 0; t < w; ++t) u[t] += x * step[t];
        });
    }
    double *last = U + X.n_features * w;
    for (std::int64_t t = 0; t < w; ++t) last[t] += bias * step[t];
    return in_bounds;
}

template <class Real, bool Shifted> inline void prefetch_row(const DenseRows<Real, Shifted> &X, std::int64_t i) {
    if (!find_row(X, i)) return;
    WELLSVM_PREFETCH(X.data + i * X.n_features);
}

template <class Real, class Index> inline void prefetch_row(const CsrRows<Real, Index> &X, std::int64_t i) {
    if (!find_row(X, i)) return;
    const std::uint64_t first = read_once(X.indptr + i);
    if (first >= static_cast<std::uint64_t>(X.n_entries)) return;
    WELLSVM_PREFETCH(X.data + first);
    WELLSVM_PREFETCH(X.indices + first);
}

} // namespace wellsvm::WELLSVM_ISA
