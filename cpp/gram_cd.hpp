// Dual coordinate descent with T label vectors on a Gram matrix; included inside the per-processor namespace.
//
// The same problem as linear_cd.hpp, without weights: the margins of all rows are kept instead,
//     margins[i] = sum_t mu_t sum over j in row i of labels[j, t] (K c_t)_j,   c_t = spread(alpha, labels_t).
// A change of alpha_i moves margins[row of k] by K_jk m[pattern of k] with m = change * sum_t mu_t y_jt pattern_t, one
// small table per step: O(N) per step whatever T is, as long as the label vectors share most of their patterns.

template <class Real>
SliceReport descend_gram(const Real *K, std::int64_t n_instances, const std::int64_t *row_of, const DualRows &dual,
                         const LabelPatterns &labels, double *margins, double *mixed, double bias, double threshold,
                         const std::int64_t *order, std::int64_t n_order) {
    const std::int64_t w = labels.width, P = labels.n_patterns;
    const double offset = bias * bias;
    SliceReport report = {0.0, 0.0, 0};
    for (std::int64_t n = 0; n < n_order; ++n) {
        const std::int64_t i = order[n];
        const Step s = coordinate_step(dual.alpha[i], margins[i], dual.cap[i], dual.ridge[i], dual.curvature[i]);
        report.loss += s.loss;
        if (s.violation > report.violation) report.violation = s.violation;
        const double change = s.alpha - dual.alpha[i];
        if (change == 0.0 || s.violation <= threshold) continue;
        dual.alpha[i] = s.alpha;
        ++report.n_changed;
        const std::int64_t first = dual.starts ? dual.starts[i] : i, last = dual.starts ? dual.starts[i + 1] : i + 1;
        for (std::int64_t j = first; j < last; ++j) {
            const std::int8_t *y = labels.patterns + labels.pattern_of[j];
            bool labeled = false;
            for (std::int64_t p = 0; p < P; ++p) mixed[p] = 0.0;
            for (std::int64_t t = 0; t < w; ++t) { // patterns lie side by side: each t is one vector operation
                const double step = change * labels.mu[t] * y[t * P];
                labeled |= y[t * P] != 0;
                if (step == 0.0) continue;
                for (std::int64_t p = 0; p < P; ++p) mixed[p] += step * labels.patterns[t * P + p];
            }
            if (!labeled) continue;
            const Real *k = K + j * n_instances;
            if (dual.starts) {
                for (std::int64_t l = 0; l < n_instances; ++l)
                    margins[row_of[l]] += (static_cast<double>(k[l]) + offset) * mixed[labels.pattern_of[l]];
            } else {
                for (std::int64_t l = 0; l < n_instances; ++l)
                    margins[l] += (static_cast<double>(k[l]) + offset) * mixed[labels.pattern_of[l]];
            }
        }
    }
    return report;
}
