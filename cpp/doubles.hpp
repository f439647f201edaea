// A few doubles that lie side by side, as one value: a register where the compiler knows vectors. It would not always
// find out by itself that a loop over them is one instruction.
#pragma once

namespace wellsvm::WELLSVM_ISA {

#if defined(__GNUC__)

template <int W> struct Vector {
    typedef double type __attribute__((vector_size(W * sizeof(double))));
};
template <> struct Vector<1> {
    typedef double type;
};
template <int W> using Doubles = typename Vector<W>::type;

template <int W> inline Doubles<W> load(const double *at) {
    Doubles<W> loaded;
    __builtin_memcpy(&loaded, at, sizeof loaded);
    return loaded;
}
template <int W> inline void store(double *at, Doubles<W> value) { __builtin_memcpy(at, &value, sizeof value); }

#else

template <int W> struct Doubles {
    double lanes[W];
    double operator[](int t) const { return lanes[t]; }
};
template <int W> inline Doubles<W> operator+(Doubles<W> a, const Doubles<W> &b) {
    for (int t = 0; t < W; ++t) a.lanes[t] += b.lanes[t];
    return a;
}
template <int W> inline Doubles<W> operator*(Doubles<W> a, const Doubles<W> &b) {
    for (int t = 0; t < W; ++t) a.lanes[t] *= b.lanes[t];
    return a;
}
template <int W> inline Doubles<W> operator*(double a, Doubles<W> b) {
    for (int t = 0; t < W; ++t) b.lanes[t] *= a;
    return b;
}
template <int W> inline Doubles<W> load(const double *at) {
    Doubles<W> loaded;
    for (int t = 0; t < W; ++t) loaded.lanes[t] = at[t];
    return loaded;
}
template <int W> inline void store(double *at, const Doubles<W> &value) {
    for (int t = 0; t < W; ++t) at[t] = value.lanes[t];
}

#endif

// Sums of x_k U[k, :] in four chains, as one would wait for the last addition at every entry: chain c takes every
// fourth one, from the c-th on.
template <int W> struct Chains {
    Doubles<W> sums[4] = {};
    // Add four entries, whose columns are those from the first on.
    template <class Real, class Columns> void add(const Real *x, const Columns &columns, int first, const double *U) {
        for (int c = 0; c < 4; ++c) sums[c] = sums[c] + static_cast<double>(x[c]) * load<W>(U + columns[first + c] * W);
    }
    void add_to(double *z) const { store<W>(z, load<W>(z) + ((sums[0] + sums[1]) + (sums[2] + sums[3]))); }
};

// A single label vector: the chains are the lanes of one register.
template <> struct Chains<1> {
    Doubles<4> sums = {};
    template <class Real, class Columns> void add(const Real *x, const Columns &columns, int first, const double *U) {
        const Doubles<4> values = {static_cast<double>(x[0]), static_cast<double>(x[1]), static_cast<double>(x[2]),
                                   static_cast<double>(x[3])};
        const Doubles<4> weights = {U[columns[first]], U[columns[first + 1]], U[columns[first + 2]],
                                    U[columns[first + 3]]};
        sums = sums + values * weights;
    }
    void add_to(double *z) const { z[0] += (sums[0] + sums[1]) + (sums[2] + sums[3]); }
};

} // namespace wellsvm::WELLSVM_ISA
