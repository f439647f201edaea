// What a search does with all rows between two SVMs: how far from the cut, at which price, with which dual variable.
#pragma once

#include <cstdint>

namespace wellsvm::WELLSVM_ISA {

// f becomes its distance to the cut: halfway between the least f of the rising rows that are labeled 1 and the largest
// of those labeled -1; 0 where there are none of either.
inline void distances_to_cut(double *f, const std::int8_t *y, const bool *rising, std::int64_t n) {
    constexpr double nothing = __builtin_huge_val();
    double least = nothing, most = -nothing;
#pragma omp simd reduction(min : least) reduction(max : most)
    for (std::int64_t j = 0; j < n; ++j) {
        const double above = rising[j] & (y[j] > 0) ? f[j] : nothing, below = rising[j] & (y[j] < 0) ? f[j] : -nothing;
        least = above < least ? above : least;
        most = below > most ? below : most;
    }
    const double cut = least < nothing && most > -nothing ? 0.5 * (least + most) : 0.0;
    for (std::int64_t j = 0; j < n; ++j) f[j] = f[j] < cut ? cut - f[j] : f[j] - cut;
}

// Distances become shares of the rows' prices: whole from `sure` on, in proportion below, but no less than `least`, and
// of all this `price`; rows that do not rise have all of theirs.
inline void shares_of_prices(double *distances, const bool *rising, std::int64_t n, double sure, double least,
                             double price) {
    for (std::int64_t j = 0; j < n; ++j) {
        const double part = distances[j] / sure, floored = part < least ? least : part;
        distances[j] = rising[j] ? price * (floored > 1.0 ? 1.0 : floored) : 1.0;
    }
}

// Dual variables to begin with at other prices: where its slack stays, a row's follows its price; without `rise` none
// follows it up.
inline void carry(const double *alpha, const double *cap, const double *ridge, const double *to_cap,
                  const double *to_ridge, bool rise, std::int64_t n, double *carried) {
    for (std::int64_t i = 0; i < n; ++i) {
        const bool squared = ridge[i] > 0.0;
        const double before = squared ? to_ridge[i] : cap[i], after = squared ? ridge[i] : to_cap[i],
                     ratio = before > 0.0 ? after / before : 1.0,
                     moved = alpha[i] * (rise || ratio < 1.0 ? ratio : 1.0);
        carried[i] = moved < to_cap[i] ? moved : to_cap[i];
    }
}

} // namespace wellsvm::WELLSVM_ISA
