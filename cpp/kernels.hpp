// The table of kernels that each instruction set provides; bindings.cpp picks one table at run time.
#pragma once

#include "views.hpp"

namespace wellsvm {

// Products return false, and leave their work undone, at a sparse row that points outside the matrix.
template <class Rows> struct LinearKernels {
    // out[i] = || x_i ||^2
    bool (*squared_norms)(const Rows &X, std::int64_t begin, std::int64_t end, double *out);
    // Z[i, :] = x_i' U[:-1, :] + bias U[-1, :]                                                      (scores of a slice)
    bool (*scores)(const Rows &X, const double *U, std::int64_t width, double bias, std::int64_t begin,
                   std::int64_t end, double *Z);
    // U += sum_i [x_i; bias] coef[i, :]                                                   (weights from coefficients)
    bool (*combine)(const Rows &X, const double *coef, std::int64_t width, double bias, std::int64_t begin,
                    std::int64_t end, double *U);
    // One slice of a dual coordinate descent epoch; U[:, t] = sum_i alpha_i psi_t(i) is kept up to date.
    LinearReport (*descend)(const Rows &X, const DualRows &dual, const LabelColumns &columns, double *U, double bias,
                            const std::int64_t *order, std::int64_t n_order);
};

template <class Real> struct GramKernels {
    // Z[t, :] += sum over r of coef[t, r] K[rows[r], :]                       (products with K, which is symmetric)
    void (*combine)(const GramRows<Real> &K, const std::int64_t *rows, std::int64_t n_rows, const double *coef,
                    std::int64_t width, double *Z);
    // One slice of a dual coordinate descent epoch on K (plus bias^2); signed_scores[j], what instance j adds to the
    // margin of its row, is kept up to date. Rows whose projected gradient is at most `threshold` are left for later: a
    // step costs a row of K.
    GramReport (*descend)(const GramRows<Real> &K, const DualRows &dual, const LabelPatterns &labels,
                          double *signed_scores, double *mixed, double bias, double threshold,
                          const std::int64_t *order, std::int64_t n_order);
    // Epochs on one label vector y, every row of one instance, in orders drawn from `seed`; f = K coef (plus bias^2)
    // and coef = alpha y are brought up to date first, and kept so.
    SvmReport (*descend_svm)(const GramRows<Real> &K, const DualRows &dual, const std::int8_t *y, double *coef,
                             double *f, double bias, const Ending &ending, std::uint64_t seed, const std::int64_t *rows,
                             std::int64_t n_rows, std::int64_t *order, std::int8_t *used);
    // values[r - begin, :] = K[chosen[r], chosen] for r = begin .. end - 1
    void (*gather)(const GramRows<Real> &K, const std::int64_t *chosen, std::int64_t n_chosen, std::int64_t begin,
                   std::int64_t end, Real *values);
    // The `width` nearest others of the instances begin .. end - 1; `halves` are those of the diagonal of K.
    void (*nearest)(const GramRows<Real> &K, const Real *halves, std::int64_t begin, std::int64_t end,
                    std::int64_t width, Real *values, std::int64_t *places, Real *largest, std::int64_t *found);
};

// Of vectors of all rows; see prices.hpp.
struct PriceKernels {
    void (*distances_to_cut)(double *f, const std::int8_t *y, const bool *rising, std::int64_t n);
    void (*shares_of_prices)(double *distances, const bool *rising, std::int64_t n, double sure, double least,
                             double price);
    void (*carry)(const double *alpha, const double *cap, const double *ridge, const double *to_cap,
                  const double *to_ridge, bool rise, std::int64_t n, double *carried);
};

#define WELLSVM_DECLARE_ISA(ISA)                                                                                       \
    namespace ISA {                                                                                                    \
    template <class Rows> LinearKernels<Rows> linear_kernels();                                                        \
    template <class Real> GramKernels<Real> gram_kernels();                                                            \
    PriceKernels price_kernels();                                                                                      \
    }
WELLSVM_DECLARE_ISA(base)
WELLSVM_DECLARE_ISA(avx2)
WELLSVM_DECLARE_ISA(avx512)
#undef WELLSVM_DECLARE_ISA

} // namespace wellsvm
