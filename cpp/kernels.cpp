// The kernels, compiled once per instruction set (CMake defines WELLSVM_ISA = base, avx2, avx512).
//
// Everything below lives in that namespace and uses no inline code of the standard library: two copies of one inline
// function with different instruction sets would be merged by the linker and crash on the older processor.
#include "kernels.hpp"

#include "gram_cd.hpp"
#include "linear_cd.hpp"
#include "nearest.hpp"
#include "prices.hpp"
#include "rows.hpp"

namespace wellsvm::WELLSVM_ISA {

template <class Rows> bool squared_norms(const Rows &X, std::int64_t begin, std::int64_t end, double *out) {
    for (std::int64_t i = begin; i < end; ++i) {
        double sum = 0.0;
        if (!squared_norm(X, i, sum)) return false;
        out[i - begin] = sum;
    }
    return true;
}

template <int W, class Rows>
bool scores(const Rows &X, const double *U, std::int64_t width, double bias, std::int64_t begin, std::int64_t end,
            double *Z) {
    const std::int64_t w = W ? W : width;
    for (std::int64_t i = begin; i < end; ++i)
        if (!row_scores<W>(X, i, U, w, bias, Z + (i - begin) * w)) return false;
    return true;
}

template <int W, class Rows>
bool combine(const Rows &X, const double *coef, std::int64_t width, double bias, std::int64_t begin, std::int64_t end,
             double *U) {
    const std::int64_t w = W ? W : width;
    for (std::int64_t i = begin; i < end; ++i) {
        const double *step = coef + (i - begin) * w;
        bool any = false;
        for (std::int64_t t = 0; t < w; ++t) any |= step[t] != 0.0;
        if (any && !row_update<W>(X, i, step, w, bias, U)) return false;
    }
    return true;
}

// Widths with a loop of their own; any other runs the loop with a width known only at run time.
#define WELLSVM_BY_WIDTH(width, call)                                                                                  \
    switch (width) {                                                                                                   \
    case 1: return call(1);                                                                                            \
    case 2: return call(2);                                                                                            \
    case 4: return call(4);                                                                                            \
    case 8: return call(8);                                                                                            \
    case 16: return call(16);                                                                                          \
    case 24: return call(24);                                                                                          \
    default: return call(0);                                                                                           \
    }

template <class Rows>
bool scores_any(const Rows &X, const double *U, std::int64_t width, double bias, std::int64_t begin, std::int64_t end,
                double *Z) {
#define WELLSVM_CALL(W) scores<W>(X, U, width, bias, begin, end, Z)
    WELLSVM_BY_WIDTH(width, WELLSVM_CALL)
#undef WELLSVM_CALL
}

template <class Rows>
bool combine_any(const Rows &X, const double *coef, std::int64_t width, double bias, std::int64_t begin,
                 std::int64_t end, double *U) {
#define WELLSVM_CALL(W) combine<W>(X, coef, width, bias, begin, end, U)
    WELLSVM_BY_WIDTH(width, WELLSVM_CALL)
#undef WELLSVM_CALL
}

template <class Rows>
LinearReport descend_any(const Rows &X, const DualRows &dual, const LabelColumns &columns, double *U, double bias,
                         const std::int64_t *order, std::int64_t n_order) {
#define WELLSVM_CALL(W) descend_linear<W>(X, dual, columns, U, bias, order, n_order)
    WELLSVM_BY_WIDTH(columns.width, WELLSVM_CALL)
#undef WELLSVM_CALL
}

template <class Rows> LinearKernels<Rows> linear_kernels() {
    return {squared_norms<Rows>, scores_any<Rows>, combine_any<Rows>, descend_any<Rows>};
}

template <class Real> GramKernels<Real> gram_kernels() {
    return {combine_gram<Real>, descend_gram<Real>, descend_svm<Real>, gather_gram<Real>, nearest<Real>};
}

PriceKernels price_kernels() { return {distances_to_cut, shares_of_prices, carry}; }

template LinearKernels<DenseRows<float>> linear_kernels();
template LinearKernels<DenseRows<double>> linear_kernels();
template LinearKernels<DenseRows<float, true>> linear_kernels();
template LinearKernels<DenseRows<double, true>> linear_kernels();
template LinearKernels<CsrRows<float, std::int32_t>> linear_kernels();
template LinearKernels<CsrRows<float, std::int64_t>> linear_kernels();
template LinearKernels<CsrRows<double, std::int32_t>> linear_kernels();
template LinearKernels<CsrRows<double, std::int64_t>> linear_kernels();
template GramKernels<float> gram_kernels();
template GramKernels<double> gram_kernels();

} // namespace wellsvm::WELLSVM_ISA
