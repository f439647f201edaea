// Nearest others of an instance, by its row of a kernel matrix.
#pragma once

#include "gram_cd.hpp"

namespace wellsvm::WELLSVM_ISA {

// The `width` instances of largest K[i, j] - halves[j] beside i itself, the largest first, of equal ones the first: the
// nearest, if `halves` are those of the diagonal. A block of columns is looked at in detail only if its largest value
// is among the largest so far. `largest` has room for as many.
template <class Real>
void nearest_others(const GramRows<Real> &K, const Real *halves, std::int64_t i, std::int64_t width, Real *largest,
                    std::int64_t *found) {
    const Real *k = gram_row(K, i);
    std::int64_t n_found = 0;
    constexpr std::int64_t block = 32;
    for (std::int64_t begin = 0; begin < K.n_instances; begin += block) {
        const std::int64_t end = begin + block < K.n_instances ? begin + block : K.n_instances;
        bool any = n_found < width;
        if (!any) {
            const Real least = largest[width - 1];
            int n_above = 0;
#pragma omp simd reduction(+ : n_above)
            for (std::int64_t j = begin; j < end; ++j) n_above += k[j] - halves[j] > least;
            any = n_above > 0;
        }
        for (std::int64_t j = begin; any && j < end; ++j) {
            const Real value = k[j] - halves[j];
            if (j == i || (n_found == width && !(value > largest[width - 1]))) continue;
            std::int64_t place = n_found < width ? n_found++ : width - 1;
            for (; place > 0 && value > largest[place - 1]; --place) {
                largest[place] = largest[place - 1];
                found[place] = found[place - 1];
            }
            largest[place] = value;
            found[place] = j;
        }
    }
}

template <class Real>
void nearest(const GramRows<Real> &K, const Real *halves, std::int64_t begin, std::int64_t end, std::int64_t width,
             Real *largest, std::int64_t *found) {
    for (std::int64_t i = begin; i < end; ++i)
        nearest_others(K, halves, i, width, largest, found + (i - begin) * width);
}

} // namespace wellsvm::WELLSVM_ISA
