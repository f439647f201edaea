// One loop over the entries of a row, dense or sparse; included inside the per-processor namespace.
//
// for_entries(X, i, f) calls f(feature, value) for each stored entry of row i.

template <class Real, class F>
inline void for_entries(const DenseRows<Real> &X, std::int64_t i, F &&f) {
    const Real *x = X.data + i * X.n_features;
    for (std::int64_t k = 0; k < X.n_features; ++k) f(k, static_cast<double>(x[k]));
}

template <class Real, class Index, class F>
inline void for_entries(const CsrRows<Real, Index> &X, std::int64_t i, F &&f) {
    const std::int64_t end = static_cast<std::int64_t>(X.indptr[i + 1]);
    for (std::int64_t p = static_cast<std::int64_t>(X.indptr[i]); p < end; ++p)
        f(static_cast<std::int64_t>(X.indices[p]), static_cast<double>(X.data[p]));
}

// row_scores: z = x_i' U + bias * U[last]; W label vectors at once, W known to the compiler unless it is 0.

// Sparse rows with few label vectors: four chains of sums, as one would wait for the last addition at every entry.
template <int W, class Real, class Index>
inline void row_scores(const CsrRows<Real, Index> &X, std::int64_t i, const double *U, std::int64_t width, double bias,
                       double *z) {
    constexpr int chains = 4;
    const std::int64_t w = W ? W : width;
    const std::int64_t end = static_cast<std::int64_t>(X.indptr[i + 1]);
    std::int64_t p = static_cast<std::int64_t>(X.indptr[i]);
    for (std::int64_t t = 0; t < w; ++t) z[t] = bias * U[X.n_features * w + t];
    if constexpr (W == 1 || W == 2 || W == 4) {
        double sums[chains][W] = {};
        for (; p + chains <= end; p += chains)
            for (int c = 0; c < chains; ++c) {
                const double x = static_cast<double>(X.data[p + c]);
                const double *u = U + static_cast<std::int64_t>(X.indices[p + c]) * W;
                for (int t = 0; t < W; ++t) sums[c][t] += x * u[t];
            }
        for (int t = 0; t < W; ++t) z[t] += (sums[0][t] + sums[1][t]) + (sums[2][t] + sums[3][t]);
    }
    for (; p < end; ++p) {
        const double x = static_cast<double>(X.data[p]);
        const double *u = U + static_cast<std::int64_t>(X.indices[p]) * w;
        for (std::int64_t t = 0; t < w; ++t) z[t] += x * u[t];
    }
}

// A single vector over a dense row is a dot product: eight partial sums, so that it runs in SIMD without
// giving the compiler leave to reorder every sum of the program.
template <int W, class Real>
inline void row_scores(const DenseRows<Real> &X, std::int64_t i, const double *U, std::int64_t width, double bias,
                       double *z) {
    const std::int64_t d = X.n_features;
    const Real *x = X.data + i * d;
    if constexpr (W == 1) {
        double sums[8] = {};
        std::int64_t k = 0;
        for (; k + 8 <= d; k += 8)
            for (int j = 0; j < 8; ++j) sums[j] += static_cast<double>(x[k + j]) * U[k + j];
        double rest = bias * U[d];
        for (; k < d; ++k) rest += static_cast<double>(x[k]) * U[k];
        z[0] = rest + ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    } else {
        const std::int64_t w = W ? W : width;
        for (std::int64_t t = 0; t < w; ++t) z[t] = bias * U[d * w + t];
        for (std::int64_t k = 0; k < d; ++k)
            for (std::int64_t t = 0; t < w; ++t) z[t] += static_cast<double>(x[k]) * U[k * w + t];
    }
}

// U += [x_i; bias] step'
template <int W, class Rows>
inline void row_update(const Rows &X, std::int64_t i, const double *step, std::int64_t width, double bias, double *U) {
    const std::int64_t w = W ? W : width;
    for_entries(X, i, [=](std::int64_t k, double x) {
        double *u = U + k * w;
        for (std::int64_t t = 0; t < w; ++t) u[t] += x * step[t];
    });
    double *last = U + X.n_features * w;
    for (std::int64_t t = 0; t < w; ++t) last[t] += bias * step[t];
}

template <class Real> inline void prefetch_row(const DenseRows<Real> &X, std::int64_t i) {
    WELLSVM_PREFETCH(X.data + i * X.n_features);
}

template <class Real, class Index> inline void prefetch_row(const CsrRows<Real, Index> &X, std::int64_t i) {
    WELLSVM_PREFETCH(X.data + X.indptr[i]);
    WELLSVM_PREFETCH(X.indices + X.indptr[i]);
}
