// Nearest others of an instance, by its row of a kernel matrix.
#pragma once

#include "gram_cd.hpp"

namespace wellsvm::WELLSVM_ISA {

// Keep the `width` largest values, the largest first, of equal ones the first, and where they come from.
template <class Real> struct Largest {
    std::int64_t width, *found, n_found = 0;
    Real *values;

    void add(Real value, std::int64_t from) {
        if (n_found == width && !(value > values[width - 1])) return;
        std::int64_t place = n_found < width ? n_found++ : width - 1;
        for (; place > 0 && value > values[place - 1]; --place) {
            values[place] = values[place - 1];
            found[place] = found[place - 1];
        }
        values[place] = value;
        found[place] = from;
    }
};

// The `width` instances of largest K[i, j] - halves[j] beside i itself, the largest first, of equal ones the first: the
// nearest, if `halves` are those of the diagonal. Instances are in groups, and the `width` groups of the largest maxima
// have as many values that are at least the least of these maxima: only such values are looked at in detail. `values`
// and `places` have room for all instances, `largest` and `found` for `width`.
template <class Real>
void nearest_others(const GramRows<Real> &K, const Real *halves, std::int64_t i, std::int64_t width, Real *values,
                    std::int64_t *places, Real *largest, std::int64_t *found) {
    const Real *k = gram_row(K, i);
    constexpr std::int64_t n_groups = 64;
    constexpr Real nothing = -__builtin_huge_valf();
    const std::int64_t n = K.n_instances;
    for (std::int64_t j = 0; j < n; ++j) values[j] = k[j] - halves[j];
    values[i] = nothing;
    Real maxima[n_groups];
    for (std::int64_t g = 0; g < n_groups; ++g) maxima[g] = nothing;
    for (std::int64_t begin = 0; begin + n_groups <= n; begin += n_groups)
        for (std::int64_t g = 0; g < n_groups; ++g)
            maxima[g] = values[begin + g] > maxima[g] ? values[begin + g] : maxima[g];
    Largest<Real> of_groups = {width, found, 0, largest};
    for (std::int64_t g = 0; g < n_groups; ++g) of_groups.add(maxima[g], g);
    const Real least = n_groups < width ? nothing : largest[width - 1];
    std::int64_t n_left = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        places[n_left] = j;
        n_left += !(values[j] < least);
    }
    Largest<Real> nearest = {width, found, 0, largest};
    for (std::int64_t p = 0; p < n_left; ++p)
        if (places[p] != i) nearest.add(values[places[p]], places[p]);
}

template <class Real>
void nearest(const GramRows<Real> &K, const Real *halves, std::int64_t begin, std::int64_t end, std::int64_t width,
             Real *values, std::int64_t *places, Real *largest, std::int64_t *found) {
    for (std::int64_t i = begin; i < end; ++i)
        nearest_others(K, halves, i, width, values, places, largest, found + (i - begin) * width);
}

} // namespace wellsvm::WELLSVM_ISA
