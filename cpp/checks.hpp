// What the kernels take for granted of the contents of the caller's arrays, looked at before they run.
//
// A check reads only what its call is about to use: it costs little beside the call, and a call that is refused has
// changed nothing. These arrays must not change during the call; those of X may (see rows.hpp).
#pragma once

#include <cstdint>
#include <stdexcept>

#include "views.hpp"

namespace wellsvm {

inline void require(bool holds, const char *what) {
    if (!holds) throw std::invalid_argument(what);
}

// One unsigned comparison: a negative index is beyond every limit.
inline bool below(std::int64_t index, std::int64_t limit) {
    return static_cast<std::uint64_t>(index) < static_cast<std::uint64_t>(limit);
}

inline bool are_labels(const std::int8_t *labels, std::int64_t n) {
    bool sound = true;
    for (std::int64_t j = 0; j < n; ++j) sound &= labels[j] >= -1 && labels[j] <= 1;
    return sound;
}

// The rows to visit, and the instances of each.
inline void require_visits(const std::int64_t *order, std::int64_t n_order, const std::int64_t *starts,
                           std::int64_t n_rows, std::int64_t n_instances) {
    bool sound = true;
    for (std::int64_t n = 0; n < n_order; ++n) sound &= below(order[n], n_rows);
    require(sound, "order names a row that does not exist");
    for (std::int64_t n = 0; starts && n < n_order; ++n) {
        const std::int64_t first = starts[order[n]], end = starts[order[n] + 1];
        sound &= 0 <= first && first <= end && end <= n_instances;
    }
    require(sound, "starts must rise from 0 to at most the number of instances");
}

// The labels of the instances to visit.
inline void require_labels(const LabelColumns &columns, const std::int64_t *starts, const std::int64_t *order,
                           std::int64_t n_order) {
    bool sound = true;
    for (std::int64_t n = 0; n < n_order; ++n) {
        const std::int64_t first = starts ? starts[order[n]] : order[n],
                           end = starts ? starts[order[n] + 1] : first + 1;
        sound &= are_labels(columns.labels + first * columns.width, (end - first) * columns.width);
    }
    require(sound, "labels must be -1, 0 or 1");
}

// A step looks at all instances, whichever row it moves.
inline void require_patterns(const LabelPatterns &labels, std::int64_t n_instances) {
    bool sound = true;
    for (std::int64_t j = 0; j < n_instances; ++j) sound &= below(labels.pattern_of[j], labels.n_patterns);
    require(sound, "pattern_of names a pattern that does not exist");
    require(are_labels(labels.patterns, labels.width * labels.n_patterns), "patterns must be -1, 0 or 1");
}

template <class Real> inline void require_places(const GramRows<Real> &K) {
    bool sound = true;
    for (std::int64_t j = 0; K.places && j < K.n_instances; ++j) sound &= K.places[j] < K.n_rows;
    require(sound, "places names a row that does not exist");
}

// The instances whose rows of K are added up.
template <class Real>
inline void require_at_hand(const GramRows<Real> &K, const std::int64_t *rows, std::int64_t n_rows) {
    require_places(K);
    bool known = true, at_hand = true;
    for (std::int64_t r = 0; r < n_rows; ++r) known &= below(rows[r], K.n_instances);
    require(known, "rows names an instance that does not exist");
    for (std::int64_t r = 0; K.places && r < n_rows; ++r) at_hand &= K.places[rows[r]] >= 0;
    require(at_hand, "rows names an instance whose row is not at hand");
}

// A whole sparse matrix, once. The kernels look at every index again; here bad input is told from a later change. What
// `data` and `indices` hold beyond the last row is spare room and may be anything.
template <class Real, class Index> inline void require_csr(const CsrRows<Real, Index> &X) {
    require(X.n_features >= 0, "n_features must not be negative");
    const std::int64_t n_used = X.indptr[X.n_held];
    bool sound = X.indptr[0] == 0 && n_used <= X.n_entries;
    for (std::int64_t i = 0; i < X.n_held; ++i) sound &= X.indptr[i] <= X.indptr[i + 1];
    require(sound, "indptr must rise from 0 to at most the number of stored entries");
    for (std::int64_t p = 0; p < n_used; ++p) sound &= below(X.indices[p], X.n_features);
    require(sound, "a column index lies outside the matrix");
}

} // namespace wellsvm
