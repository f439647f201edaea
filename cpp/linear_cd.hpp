// Dual coordinate descent with T label vectors, linear kernel.
//
//     max over 0 <= alpha <= cap of  sum_i alpha_i - 1/2 sum_t mu_t || u_t ||^2 - 1/2 sum_i ridge_i alpha_i^2
//     u_t = sum_i alpha_i psi_t(i),   psi_t(i) = sum over the instances j of row i of labels[j, t] x_j
//
// With u_t at hand, the best alpha_i with all others fixed is a clipped Newton step (Hsieh et al. 2008, for T = 1).

#pragma once

#include "rows.hpp"
#include "step.hpp"
#include "views.hpp"

namespace wellsvm::WELLSVM_ISA {

template <int W> inline bool any_label(const std::int8_t *y, std::int64_t width) {
    const std::int64_t w = W ? W : width;
    int any = 0;
    for (std::int64_t t = 0; t < w; ++t) any |= y[t];
    return any != 0;
}

template <int W, class Rows>
LinearReport descend_linear(const Rows &X, const DualRows &dual, const LabelColumns &columns, double *U, double bias,
                            const std::int64_t *order, std::int64_t n_order) {
    const std::int64_t w = W ? W : columns.width;
    double z_fixed[W ? W : 1], step_fixed[W ? W : 1];
    double *z = W ? z_fixed : columns.scratch, *step = W ? step_fixed : columns.scratch + w;
    LinearReport report = {0.0, 0.0, true};
    for (std::int64_t n = 0; n < n_order; ++n) {
        const std::int64_t i = order[n];
        const std::int64_t first = dual.starts ? dual.starts[i] : i, last = dual.starts ? dual.starts[i + 1] : i + 1;
        if (n + 1 < n_order) prefetch_row(X, dual.starts ? dual.starts[order[n + 1]] : order[n + 1]);

        double margin = 0.0;
        for (std::int64_t j = first; j < last; ++j) {
            const std::int8_t *y = columns.labels + j * w;
            if (dual.starts && !any_label<W>(y, w)) continue;
            if (!row_scores<W>(X, j, U, w, bias, z)) {
                report.in_bounds = false;
                return report;
            }
            for (std::int64_t t = 0; t < w; ++t) margin += columns.mu[t] * y[t] * z[t];
        }
        const Step s = coordinate_step(dual.alpha[i], margin, dual.cap[i], dual.ridge[i], dual.curvature[i]);
        report.loss += s.loss;
        if (s.violation > report.violation) report.violation = s.violation;
        const double change = s.alpha - dual.alpha[i];
        if (change == 0.0) continue;
        dual.alpha[i] = s.alpha;
        for (std::int64_t j = first; j < last; ++j) {
            const std::int8_t *y = columns.labels + j * w;
            if (dual.starts && !any_label<W>(y, w)) continue;
            for (std::int64_t t = 0; t < w; ++t) step[t] = change * y[t];
            if (!row_update<W>(X, j, step, w, bias, U)) {
                report.in_bounds = false;
                return report;
            }
        }
    }
    return report;
}

} // namespace wellsvm::WELLSVM_ISA
