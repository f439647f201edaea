// Products with a Gram matrix, and dual coordinate descent on it with T label vectors.
#pragma once

#include "prefetch.hpp"
#include "step.hpp"
#include "views.hpp"

namespace wellsvm::WELLSVM_ISA {

template <class Real> inline const Real *gram_row(const GramRows<Real> &K, std::int64_t j) {
    return K.data + (K.places ? K.places[j] : j) * K.n_instances;
}

// Values between some instances, those of a row side by side.
template <class Real>
void gather_gram(const GramRows<Real> &K, const std::int64_t *chosen, std::int64_t n_chosen, std::int64_t begin,
                 std::int64_t end, Real *values) {
    for (std::int64_t r = begin; r < end; ++r) {
        const Real *k = gram_row(K, chosen[r]);
        Real *out = values + (r - begin) * n_chosen;
        constexpr std::int64_t line = 64 / sizeof(Real);
        for (std::int64_t l = 0; r + 1 < end && l < K.n_instances; l += line)
            WELLSVM_PREFETCH(gram_row(K, chosen[r + 1]) + l);
        for (std::int64_t c = 0; c < n_chosen; ++c) out[c] = k[chosen[c]];
    }
}

// Columns of K are taken in blocks that stay in the cache for all T products, rows four at a time: sums in double
// whatever K is stored in, which a BLAS call on float would not give.
template <class Real>
void combine_gram(const GramRows<Real> &K, const std::int64_t *rows, std::int64_t n_rows, const double *coef,
                  std::int64_t width, double *Z) {
    const std::int64_t n_instances = K.n_instances;
    constexpr std::int64_t block = 1024, line = 64 / sizeof(Real);
    for (std::int64_t begin = 0; begin < n_instances; begin += block) {
        const std::int64_t size = begin + block < n_instances ? block : n_instances - begin;
        for (std::int64_t r = 0; r < n_rows; r += 4) {
            const std::int64_t last = n_rows - 1;
            const std::int64_t r1 = r + 1 < last ? r + 1 : last, r2 = r + 2 < last ? r + 2 : last,
                               r3 = r + 3 < last ? r + 3 : last;
            const Real *k0 = gram_row(K, rows[r]) + begin, *k1 = gram_row(K, rows[r1]) + begin,
                       *k2 = gram_row(K, rows[r2]) + begin, *k3 = gram_row(K, rows[r3]) + begin;
            for (std::int64_t ahead = r + 4; ahead < r + 8 && ahead < n_rows; ++ahead)
                for (std::int64_t l = 0; l < size; l += line) WELLSVM_PREFETCH(gram_row(K, rows[ahead]) + begin + l);
            for (std::int64_t t = 0; t < width; ++t) {
                const double *c = coef + t * n_rows;
                const double c0 = c[r], c1 = r + 1 < n_rows ? c[r1] : 0.0, c2 = r + 2 < n_rows ? c[r2] : 0.0,
                             c3 = r + 3 < n_rows ? c[r3] : 0.0;
                if (c0 == 0.0 && c1 == 0.0 && c2 == 0.0 && c3 == 0.0) continue;
                double *z = Z + t * n_instances + begin;
                for (std::int64_t l = 0; l < size; ++l)
                    z[l] += (c0 * static_cast<double>(k0[l]) + c1 * static_cast<double>(k1[l])) +
                            (c2 * static_cast<double>(k2[l]) + c3 * static_cast<double>(k3[l]));
            }
        }
    }
}

// The same problem as linear_cd.hpp, without weights: what every instance adds to its row's margin is kept instead,
//     signed_scores[j] = sum_t mu_t labels[j, t] (K c_t)_j,   c_t = spread(alpha, labels_t).
// A change of alpha_i moves signed_scores[k] by K_jk m[pattern of k] with m = change * sum_t mu_t y_jt pattern_t, one
// small table per step: O(N) per step whatever T is, as long as the label vectors share most of their patterns.

// out[l] += (k[l] + offset) factor(l), the whole cost of a step. Rows come in random order, and a processor follows a
// row by itself only to the end of its page: the next entries are asked for ahead. The pragma tells that `out` and what
// `factor` reads do not overlap, without which the compiler keeps the loop scalar.
template <class Real, class Factor>
inline void add_gram_row(const Real *k, std::int64_t n, double offset, double *out, Factor factor) {
    constexpr std::int64_t block = 64, ahead = 512, line = 64 / sizeof(Real);
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t end = begin + block < n ? begin + block : n;
        if (begin + ahead < n)
            for (std::int64_t l = 0; l < block; l += line) WELLSVM_PREFETCH(k + begin + ahead + l);
#pragma omp simd
        for (std::int64_t l = begin; l < end; ++l) out[l] += (static_cast<double>(k[l]) + offset) * factor(l);
    }
}

// With one label vector the sign of an instance is a factor of its own: f is kept instead of y f while rows are
// visited, and nothing is looked up. Looking a sign up for every entry takes several times as long as its sum. The bits
// are the same, since a sign changes no rounding.
template <class Real>
inline void add_scaled_row(const Real *k, std::int64_t n, double step, double offset, double *out) {
    add_gram_row(k, n, offset, out, [step](std::int64_t) { return step; });
}

// From y f to f and back; an instance without a label adds nothing to its margin.
template <class Label> inline void turn_by_sign(Label label, std::int64_t n, double *values) {
    for (std::int64_t j = 0; j < n; ++j) {
        const std::int8_t y = label(j);
        values[j] = y > 0 ? values[j] : (y < 0 ? -values[j] : 0.0);
    }
}

inline bool any_label(const LabelPatterns &labels, std::int64_t j) {
    const std::int8_t *y = labels.patterns + labels.pattern_of[j];
    bool any = false;
    for (std::int64_t t = 0; t < labels.width; ++t) any |= y[t * labels.n_patterns] != 0;
    return any;
}

template <class Real>
GramReport descend_gram(const GramRows<Real> &K, const DualRows &dual, const LabelPatterns &labels,
                        double *signed_scores, double *mixed, double bias, double threshold, const std::int64_t *order,
                        std::int64_t n_order) {
    const std::int64_t w = labels.width, P = labels.n_patterns;
    const double offset = bias * bias;
    const bool alone = w == 1;
    const auto label = [&labels](std::int64_t j) { return labels.patterns[labels.pattern_of[j]]; };
    if (alone) turn_by_sign(label, K.n_instances, signed_scores);
    GramReport report = {0.0, 0.0, 0};
    for (std::int64_t n = 0; n < n_order; ++n) {
        const std::int64_t i = order[n];
        const std::int64_t first = dual.starts ? dual.starts[i] : i, last = dual.starts ? dual.starts[i + 1] : i + 1;
        double margin = 0.0;
        for (std::int64_t j = first; j < last; ++j)
            margin += alone ? labels.patterns[labels.pattern_of[j]] * signed_scores[j] : signed_scores[j];
        const Step s = coordinate_step(dual.alpha[i], margin, dual.cap[i], dual.ridge[i], dual.curvature[i]);
        report.loss += s.loss;
        if (s.violation > report.violation) report.violation = s.violation;
        const double change = s.alpha - dual.alpha[i];
        if (change == 0.0 || s.violation <= threshold) continue;
        bool at_hand = true; // else it is left for later too
        for (std::int64_t j = first; K.places && j < last; ++j) at_hand &= K.places[j] >= 0 || !any_label(labels, j);
        if (!at_hand) continue;
        dual.alpha[i] = s.alpha;
        ++report.n_changed;
        for (std::int64_t j = first; j < last; ++j) {
            const std::int8_t *y = labels.patterns + labels.pattern_of[j];
            if (!any_label(labels, j)) continue;
            if (alone) {
                add_scaled_row(gram_row(K, j), K.n_instances, change * labels.mu[0] * y[0], offset, signed_scores);
                continue;
            }
            for (std::int64_t p = 0; p < P; ++p) mixed[p] = 0.0;
            for (std::int64_t t = 0; t < w; ++t) { // patterns lie side by side: each t is one vector operation
                const double step = change * labels.mu[t] * y[t * P];
                if (step == 0.0) continue;
                for (std::int64_t p = 0; p < P; ++p) mixed[p] += step * labels.patterns[t * P + p];
            }
            const std::int32_t *pattern_of = labels.pattern_of;
            add_gram_row(gram_row(K, j), K.n_instances, offset, signed_scores,
                         [pattern_of, mixed](std::int64_t l) { return mixed[pattern_of[l]]; });
        }
    }
    if (alone) turn_by_sign(label, K.n_instances, signed_scores);
    return report;
}

// Numbers that look random (SplitMix64 of Steele, Lea and Flood), and an order by them (Fisher and Yates). The upper
// half of a number is used: fewer than 2^32 rows are visited.
inline std::uint64_t next_random(std::uint64_t &state) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

inline void shuffle(std::int64_t *order, std::int64_t n, std::uint64_t &state) {
    for (std::int64_t k = n - 1; k > 0; --k) {
        const std::int64_t l = static_cast<std::int64_t>(((next_random(state) >> 32) * (k + 1)) >> 32);
        const std::int64_t kept = order[k];
        order[k] = order[l];
        order[l] = kept;
    }
}

// What is known of an SVM without moving anything: the two sides of its gap, and the losses and projected gradients of
// the rows in use. The pragma allows sums in several chains: one would wait for the last addition at every row.
inline SvmReport look_at_svm(const DualRows &dual, const std::int8_t *y, const double *f, std::int64_t n_instances,
                             const std::int8_t *used) {
    double half = 0.0, linear = 0.0, loss = 0.0, violation = 0.0;
#pragma omp simd reduction(+ : half, linear, loss) reduction(max : violation)
    for (std::int64_t i = 0; i < n_instances; ++i) {
        const double alpha = dual.alpha[i], ridge = dual.ridge[i], cap = dual.cap[i], margin = y[i] * f[i];
        half += 0.5 * alpha * margin;
        linear += alpha - 0.5 * ridge * alpha * alpha;
        const Slope s = slope_at(alpha, margin, cap, ridge);
        const double lost = loss_at(1.0 - margin, cap, ridge);
        loss += used[i] ? lost : 0.0;
        const double found = used[i] ? s.violation : 0.0;
        violation = found > violation ? found : violation;
    }
    return {violation, loss, half, linear, 0, 0, false};
}

inline bool is_solved(const SvmReport &report, const Ending &ending) {
    const double upper = report.half + report.loss, gap = upper - (report.linear - report.half);
    return report.violation <= ending.goal || gap <= ending.tol * (upper < 0.0 ? -upper : upper);
}

// A processor that waits for a row of so many entries at most does other steps meanwhile; more are asked for ahead.
constexpr std::int64_t long_row = 2048;

// out[l] += sum_q steps[q] (rows[q][l] + offset): one look at `out` for several steps, whose rows arrive side by side.
template <int Q, class Real>
inline void add_rows(const Real *const *rows, const double *steps, double offset, std::int64_t n, double *out) {
    const Real *k[Q];
    double c[Q], constant = 0.0;
    for (int q = 0; q < Q; ++q) {
        k[q] = rows[q];
        c[q] = steps[q];
        constant += offset * c[q];
    }
    const auto add = [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
        for (std::int64_t l = begin; l < end; ++l) {
            double sum = constant;
            for (int q = 0; q < Q; ++q) sum += c[q] * static_cast<double>(k[q][l]);
            out[l] += sum;
        }
    };
    if (n <= long_row) return add(0, n);
    constexpr std::int64_t block = 64, ahead = 512, line = 64 / sizeof(Real);
    for (std::int64_t begin = 0; begin < n; begin += block) {
        if (begin + ahead < n)
            for (int q = 0; q < Q; ++q)
                for (std::int64_t l = 0; l < block; l += line) WELLSVM_PREFETCH(k[q] + begin + ahead + l);
        add(begin, begin + block < n ? begin + block : n);
    }
}

// Steps that were taken and that f does not show yet: at most four, whose rows of K are added to it together.
template <class Real> struct Pending {
    const GramRows<Real> &K;
    double offset, *f;
    int n = 0;
    const Real *rows[4] = {};
    double steps[4] = {};

    // f of an instance with these steps.
    double at(std::int64_t i) const {
        double value = f[i];
        for (int q = 0; q < n; ++q) value += steps[q] * (static_cast<double>(rows[q][i]) + offset);
        return value;
    }
    void add(std::int64_t i, double step) {
        rows[n] = gram_row(K, i);
        steps[n++] = step;
        if (n == 4) settle();
    }
    void settle() {
        switch (n) {
        case 1: add_rows<1>(rows, steps, offset, K.n_instances, f); break;
        case 2: add_rows<2>(rows, steps, offset, K.n_instances, f); break;
        case 3: add_rows<3>(rows, steps, offset, K.n_instances, f); break;
        case 4: add_rows<4>(rows, steps, offset, K.n_instances, f); break;
        default: break;
        }
        n = 0;
    }
};

// Steps that make f = K coef that of the present alpha and labels, which other prices or labels have changed; false if
// more rows than `most` differ, and some are left.
template <class Real>
bool catch_up(Pending<Real> &pending, const DualRows &dual, const std::int8_t *y, double *coef, std::int64_t most) {
    std::int64_t n_left = most;
    for (std::int64_t i = 0; i < pending.K.n_instances && n_left >= 0; ++i) {
        const double wanted = dual.alpha[i] * y[i], step = wanted - coef[i];
        if (step == 0.0 || --n_left < 0) continue;
        pending.add(i, step);
        coef[i] = wanted;
    }
    pending.settle();
    return n_left >= 0;
}

// Epochs on one label vector, every row of one instance, K whole: an SVM. f is K coef; first it catches up with alpha
// and the labels. Before each epoch a look tells the gap, which costs little beside the epoch, so that it ends as soon
// as it is solved. Four steps are added to f together: a row waits for the next epoch if f before them asks for no
// step, else its step takes them into account. `order` and `used` have room for the rows and for all instances.
template <class Real>
SvmReport descend_svm(const GramRows<Real> &K, const DualRows &dual, const std::int8_t *y, double *coef, double *f,
                      double bias, const Ending &ending, std::uint64_t seed, const std::int64_t *rows,
                      std::int64_t n_rows, std::int64_t *order, std::int8_t *used) {
    for (std::int64_t i = 0; i < K.n_instances; ++i) used[i] = 0;
    for (std::int64_t n = 0; n < n_rows; ++n) used[order[n] = rows[n]] = 1;
    Pending<Real> pending = {K, bias * bias, f};
    SvmReport report = {0.0, 0.0, 0.0, 0.0, 0, 0, false};
    std::int64_t n_changed = 0, n_epochs = 0;
    const bool is_current = catch_up(pending, dual, y, coef, ending.most_changes);
    for (; is_current; ++n_epochs) {
        report = look_at_svm(dual, y, f, K.n_instances, used);
        report.solved = is_solved(report, ending);
        if (report.solved || n_epochs >= ending.most_epochs || n_changed >= ending.most_changes) break;
        const double threshold = ending.patience * report.violation;
        shuffle(order, n_rows, seed);
        for (std::int64_t n = 0; n < n_rows && n_changed < ending.most_changes; ++n) {
            const std::int64_t i = order[n];
            const double alpha = dual.alpha[i], cap = dual.cap[i], ridge = dual.ridge[i];
            const double gradient = (1.0 - y[i] * pending.at(i)) - ridge * alpha;
            if (!is_to_move(alpha, gradient, cap, threshold)) continue;
            const double next = best_alpha(alpha, gradient, cap, dual.curvature[i]);
            if (next == alpha) continue;
            dual.alpha[i] = next;
            coef[i] = next * y[i];
            ++n_changed;
            if (y[i] != 0) pending.add(i, (next - alpha) * y[i]);
        }
        pending.settle();
    }
    report.n_changed = n_changed;
    report.n_epochs = n_epochs;
    return report;
}

} // namespace wellsvm::WELLSVM_ISA
