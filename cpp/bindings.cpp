// Python bindings: argument checks, the choice of instruction set, nothing else. The only file that knows nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "checks.hpp"
#include "kernels.hpp"

namespace nb = nanobind;
using namespace wellsvm;

template <class T> using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Out1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Out2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

enum class Isa { base, avx2, avx512 };

// The best instruction set of this processor, or a lower one named by the environment variable WELLSVM_ISA.
static Isa choose_isa() {
    Isa best = Isa::base;
#if defined(WELLSVM_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = Isa::avx2;
#endif
#if defined(WELLSVM_HAVE_AVX512)
    if (best == Isa::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        best = Isa::avx512;
#endif
    const char *wanted = std::getenv("WELLSVM_ISA");
    if (wanted && std::string(wanted) == "base") best = Isa::base;
    if (wanted && std::string(wanted) == "avx2" && best == Isa::avx512) best = Isa::avx2;
    return best;
}

static const Isa isa = choose_isa();

static const char *isa_name() { return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "base"; }

template <class Rows> static LinearKernels<Rows> pick_linear() {
#if defined(WELLSVM_HAVE_AVX512)
    if (isa == Isa::avx512) return avx512::linear_kernels<Rows>();
#endif
#if defined(WELLSVM_HAVE_AVX2)
    if (isa == Isa::avx2) return avx2::linear_kernels<Rows>();
#endif
    return base::linear_kernels<Rows>();
}

template <class Real> static GramKernels<Real> pick_gram() {
#if defined(WELLSVM_HAVE_AVX512)
    if (isa == Isa::avx512) return avx512::gram_kernels<Real>();
#endif
#if defined(WELLSVM_HAVE_AVX2)
    if (isa == Isa::avx2) return avx2::gram_kernels<Real>();
#endif
    return base::gram_kernels<Real>();
}

static PriceKernels pick_prices() {
#if defined(WELLSVM_HAVE_AVX512)
    if (isa == Isa::avx512) return avx512::price_kernels();
#endif
#if defined(WELLSVM_HAVE_AVX2)
    if (isa == Isa::avx2) return avx2::price_kernels();
#endif
    return base::price_kernels();
}

static const PriceKernels prices = pick_prices();

// The compiler may choose instructions that need every number to lie at a multiple of its size.
template <class... Arrays> static void require_aligned(const Arrays &...arrays) {
    const bool aligned = (... && (reinterpret_cast<std::uintptr_t>(arrays.data()) % sizeof(*arrays.data()) == 0));
    require(aligned, "an array does not lie at a multiple of the size of its numbers");
}

// The arrays that describe the dual and the rows to visit, as they fit each other and the number of instances.
struct Visit {
    DualRows dual;
    const std::int64_t *order;
    std::int64_t n_order, n_rows;

    Visit(const std::optional<In1<std::int64_t>> &starts, const In1<double> &cap, const In1<double> &ridge,
          const In1<double> &curvature, const Out1<double> &alpha, const In1<std::int64_t> &rows,
          std::size_t n_instances)
        : dual{starts ? starts->data() : nullptr, cap.data(), ridge.data(), curvature.data(), alpha.data()},
          order(rows.data()), n_order(rows.shape(0)), n_rows(alpha.shape(0)) {
        const std::size_t n = alpha.shape(0);
        require_aligned(cap, ridge, curvature, alpha, rows);
        if (starts) require_aligned(*starts);
        require(cap.shape(0) == n && ridge.shape(0) == n && curvature.shape(0) == n,
                "cap, ridge, curvature and alpha must have one entry per row");
        require(starts ? starts->shape(0) == n + 1 : n == n_instances,
                "starts must have one entry more than alpha, which without starts has one per instance");
    }
};

// Rows keeps the caller's arrays alive; View is what the kernels see of them.
template <class View> struct Rows {
    std::vector<nb::object> owners;
    View view;
    LinearKernels<View> kernels = pick_linear<View>();

    void require_slice(std::int64_t begin, std::int64_t end, std::size_t n_given) const {
        require(0 <= begin && begin <= end && end <= view.n_rows, "slice outside the rows");
        require(static_cast<std::int64_t>(n_given) == end - begin, "arrays must have one row per row of the slice");
    }
    void require_weights(std::size_t n_given) const {
        require(n_given > 0 && static_cast<std::int64_t>(n_given - 1) == view.n_features,
                "U needs one row per feature and one more");
    }
    void require_in_bounds(bool in_bounds) const {
        require(in_bounds, view.places
                               ? "a row is not at hand, or points outside the matrix"
                               : "the sparse matrix was changed after it was checked: a row points outside of it");
    }

    void squared_norms(std::int64_t begin, std::int64_t end, Out1<double> out) const {
        require_slice(begin, end, out.shape(0));
        require_aligned(out);
        double *const target = out.data();
        nb::gil_scoped_release release;
        require_in_bounds(kernels.squared_norms(view, begin, end, target));
    }

    void scores(In2<double> U, double bias, std::int64_t begin, std::int64_t end, Out2<double> Z) const {
        require_slice(begin, end, Z.shape(0));
        require_weights(U.shape(0));
        require(Z.shape(1) == U.shape(1), "Z must have one column per column of U");
        require_aligned(U, Z);
        const double *const weights = U.data();
        double *const target = Z.data();
        const std::int64_t width = U.shape(1);
        nb::gil_scoped_release release;
        require_in_bounds(kernels.scores(view, weights, width, bias, begin, end, target));
    }

    void combine(In2<double> coef, double bias, std::int64_t begin, std::int64_t end, Out2<double> U) const {
        require_slice(begin, end, coef.shape(0));
        require_weights(U.shape(0));
        require(coef.shape(1) == U.shape(1), "coef must have one column per column of U");
        require_aligned(coef, U);
        const double *const source = coef.data();
        double *const weights = U.data();
        const std::int64_t width = U.shape(1);
        nb::gil_scoped_release release;
        require_in_bounds(kernels.combine(view, source, width, bias, begin, end, weights));
    }

    std::tuple<double, double> descend(std::optional<In1<std::int64_t>> starts, In1<double> cap, In1<double> ridge,
                                       In1<double> curvature, Out1<double> alpha, In2<std::int8_t> labels,
                                       In1<double> mu, Out2<double> U, double bias, In1<std::int64_t> order) const {
        require_weights(U.shape(0));
        const std::size_t width = U.shape(1);
        require(labels.shape(1) == width && mu.shape(0) == width, "labels, mu and U must have the same width");
        require(static_cast<std::int64_t>(labels.shape(0)) == view.n_rows, "labels must have one row per instance");
        require_aligned(mu, U);
        const Visit visit(starts, cap, ridge, curvature, alpha, order, labels.shape(0));
        std::vector<double> scratch(2 * width);
        const LabelColumns columns = {labels.data(), mu.data(), scratch.data(), static_cast<std::int64_t>(width)};
        double *const weights = U.data();
        nb::gil_scoped_release release;
        require_visits(visit.order, visit.n_order, visit.dual.starts, visit.n_rows, view.n_rows);
        require_labels(columns, visit.dual.starts, visit.order, visit.n_order);
        const LinearReport r = kernels.descend(view, visit.dual, columns, weights, bias, visit.order, visit.n_order);
        require_in_bounds(r.in_bounds);
        return {r.violation, r.loss};
    }
};

using Places = std::optional<In1<std::int64_t>>;

// With places the rows are as many as these, of which the matrix holds some.
static std::int64_t count_rows(const Places &places, std::int64_t n_held, std::vector<nb::object> &owners) {
    if (!places) return n_held;
    require_aligned(*places);
    owners.push_back(nb::cast(*places));
    return static_cast<std::int64_t>(places->shape(0));
}

template <class Real, bool Shifted>
static Rows<DenseRows<Real, Shifted>> viewed(In2<Real> X, Places places, const double *origin) {
    require_aligned(X);
    std::vector<nb::object> owners = {nb::cast(X)};
    const std::int64_t n_held = X.shape(0), n_rows = count_rows(places, n_held, owners);
    const DenseRows<Real, Shifted> view = {
        X.data(), n_rows, static_cast<std::int64_t>(X.shape(1)), n_held, places ? places->data() : nullptr, origin};
    return {owners, view};
}

template <class Real> static Rows<DenseRows<Real>> dense_rows(In2<Real> X, Places places) {
    return viewed<Real, false>(X, places, nullptr);
}

template <class Real> static Rows<DenseRows<Real, true>> shifted_rows(In2<Real> X, In1<double> origin, Places places) {
    require_aligned(origin);
    require(origin.shape(0) == X.shape(1), "origin must have one entry per column of X");
    Rows<DenseRows<Real, true>> rows = viewed<Real, true>(X, places, origin.data());
    rows.owners.push_back(nb::cast(origin));
    return rows;
}

template <class Real, class Index>
static Rows<CsrRows<Real, Index>> csr_rows(In1<Real> data, In1<Index> indices, In1<Index> indptr,
                                           std::int64_t n_features, Places places) {
    const std::int64_t n_entries = indices.shape(0), n_held = static_cast<std::int64_t>(indptr.shape(0)) - 1;
    require(n_held >= 0, "indptr must have one entry more than there are rows");
    require(data.shape(0) == indices.shape(0), "data and indices must be of equal length");
    require_aligned(data, indices, indptr);
    std::vector<nb::object> owners = {nb::cast(data), nb::cast(indices), nb::cast(indptr)};
    const std::int64_t n_rows = count_rows(places, n_held, owners);
    const CsrRows<Real, Index> view = {data.data(), indices.data(), indptr.data(), n_rows,
                                       n_features,  n_entries,      n_held,        places ? places->data() : nullptr};
    {
        nb::gil_scoped_release release;
        require_csr(view);
    }
    return {owners, view};
}

template <class Real> struct Gram {
    std::vector<nb::object> owners;
    GramRows<Real> K;
    GramKernels<Real> kernels = pick_gram<Real>();

    void combine(In1<std::int64_t> rows, In2<double> coef, Out2<double> Z) const {
        require(coef.shape(1) == rows.shape(0), "coef must have one column per row named");
        require(Z.shape(0) == coef.shape(0) && Z.shape(1) == static_cast<std::size_t>(K.n_instances),
                "Z must be of shape (rows of coef, instances)");
        require_aligned(rows, coef, Z);
        const std::int64_t *const named = rows.data(), n_rows = rows.shape(0), width = coef.shape(0);
        const double *const c = coef.data();
        double *const out = Z.data();
        nb::gil_scoped_release release;
        require_at_hand(K, named, n_rows);
        kernels.combine(K, named, n_rows, c, width, out);
    }

    std::tuple<double, double, std::int64_t> descend(std::optional<In1<std::int64_t>> starts, In1<double> cap,
                                                     In1<double> ridge, In1<double> curvature, Out1<double> alpha,
                                                     In1<std::int32_t> pattern_of, In2<std::int8_t> patterns,
                                                     In1<double> mu, Out1<double> signed_scores, double bias,
                                                     double threshold, In1<std::int64_t> order) const {
        const std::size_t n = K.n_instances;
        require(pattern_of.shape(0) == n && signed_scores.shape(0) == n,
                "pattern_of and signed_scores need one entry per instance");
        require(patterns.shape(0) == mu.shape(0), "patterns must have one row per entry of mu");
        require_aligned(pattern_of, mu, signed_scores);
        const Visit visit(starts, cap, ridge, curvature, alpha, order, n);
        const LabelPatterns labels = {pattern_of.data(), patterns.data(), mu.data(),
                                      static_cast<std::int64_t>(patterns.shape(1)),
                                      static_cast<std::int64_t>(patterns.shape(0))};
        std::vector<double> mixed(patterns.shape(1));
        double *const values = signed_scores.data();
        nb::gil_scoped_release release;
        require_visits(visit.order, visit.n_order, visit.dual.starts, visit.n_rows, K.n_instances);
        require_patterns(labels, K.n_instances);
        require_places(K);
        const GramReport r =
            kernels.descend(K, visit.dual, labels, values, mixed.data(), bias, threshold, visit.order, visit.n_order);
        return {r.violation, r.loss, r.n_changed};
    }

    std::tuple<double, double, double, double, std::int64_t, std::int64_t, bool>
    descend_svm(In1<double> cap, In1<double> ridge, In1<double> curvature, Out1<double> alpha, In1<std::int8_t> labels,
                Out1<double> coef, Out1<double> f, double bias, double goal, double tol, double patience,
                std::int64_t most_epochs, std::int64_t most_changes, std::uint64_t seed,
                In1<std::int64_t> order) const {
        const std::size_t n = K.n_instances;
        require(!K.places, "an SVM needs the whole matrix");
        require(labels.shape(0) == n && coef.shape(0) == n && f.shape(0) == n,
                "labels, coef and f need one entry per instance");
        require_aligned(coef, f);
        const Visit visit(std::nullopt, cap, ridge, curvature, alpha, order, n);
        const Ending ending = {goal, tol, patience, most_epochs, most_changes};
        const std::int8_t *const y = labels.data();
        double *const c = coef.data(), *const values = f.data();
        std::vector<std::int64_t> shuffled(visit.n_order);
        std::vector<std::int8_t> used(n);
        nb::gil_scoped_release release;
        require_visits(visit.order, visit.n_order, nullptr, visit.n_rows, K.n_instances);
        require(are_labels(y, K.n_instances), "labels must be -1, 0 or 1");
        const SvmReport r = kernels.descend_svm(K, visit.dual, y, c, values, bias, ending, seed, visit.order,
                                                visit.n_order, shuffled.data(), used.data());
        return {r.violation, r.loss, r.half, r.linear, r.n_changed, r.n_epochs, r.solved};
    }

    void gather(In1<std::int64_t> chosen, std::int64_t begin, Out2<Real> values) const {
        const std::int64_t n_chosen = chosen.shape(0), n_rows = values.shape(0);
        require(!K.places, "a part needs the whole matrix");
        require(static_cast<std::int64_t>(values.shape(1)) == n_chosen, "values must have one column per chosen row");
        require(begin >= 0 && n_rows <= n_chosen && begin <= n_chosen - n_rows, "slice outside the chosen rows");
        require_aligned(chosen, values);
        const std::int64_t *const named = chosen.data();
        Real *const out = values.data();
        nb::gil_scoped_release release;
        require_at_hand(K, named, n_chosen);
        kernels.gather(K, named, n_chosen, begin, begin + n_rows, out);
    }

    void nearest(In1<Real> halves, std::int64_t begin, Out2<std::int64_t> found) const {
        const std::int64_t n = K.n_instances, n_rows = found.shape(0), width = found.shape(1);
        require(!K.places, "neighbors need the whole matrix");
        require(static_cast<std::int64_t>(halves.shape(0)) == n, "halves needs one entry per instance");
        require(begin >= 0 && n_rows <= n && begin <= n - n_rows, "slice outside the rows");
        require(width > 0 && width < n, "an instance has as many others as there are instances, less one");
        require_aligned(halves, found);
        const Real *const of_diagonal = halves.data();
        std::int64_t *const out = found.data();
        std::vector<Real> values(n), largest(width);
        std::vector<std::int64_t> places(n);
        nb::gil_scoped_release release;
        kernels.nearest(K, of_diagonal, begin, begin + n_rows, width, values.data(), places.data(), largest.data(),
                        out);
    }
};

template <class Real> static Gram<Real> gram(In2<Real> K, std::optional<In1<std::int64_t>> places) {
    const std::int64_t n_rows = K.shape(0), n_instances = K.shape(1);
    require(places || n_rows == n_instances, "K must be square");
    require(!places || places->shape(0) == K.shape(1), "places needs one entry per column of K");
    require_aligned(K);
    if (places) require_aligned(*places);
    std::vector<nb::object> owners = {nb::cast(K)};
    if (places) owners.push_back(nb::cast(*places));
    return {owners, {K.data(), n_rows, n_instances, places ? places->data() : nullptr}};
}

static void distances_to_cut(Out1<double> f, In1<std::int8_t> y, In1<bool> rising) {
    const std::size_t n = f.shape(0);
    require(y.shape(0) == n && rising.shape(0) == n, "f, y and rising must have one entry per row");
    require_aligned(f);
    double *const values = f.data();
    const std::int8_t *const labels = y.data();
    const bool *const rise = rising.data();
    nb::gil_scoped_release release;
    prices.distances_to_cut(values, labels, rise, n);
}

static void shares_of_prices(Out1<double> distances, In1<bool> rising, double sure, double least, double price) {
    const std::size_t n = distances.shape(0);
    require(rising.shape(0) == n, "distances and rising must have one entry per row");
    require_aligned(distances);
    double *const values = distances.data();
    const bool *const rise = rising.data();
    nb::gil_scoped_release release;
    prices.shares_of_prices(values, rise, n, sure, least, price);
}

static void carry(In1<double> alpha, In1<double> cap, In1<double> ridge, In1<double> to_cap, In1<double> to_ridge,
                  bool rise, Out1<double> carried) {
    const std::size_t n = alpha.shape(0);
    require(cap.shape(0) == n && ridge.shape(0) == n && to_cap.shape(0) == n && to_ridge.shape(0) == n &&
                carried.shape(0) == n,
            "alpha, caps, ridges and carried must have one entry per row");
    require_aligned(alpha, cap, ridge, to_cap, to_ridge, carried);
    const double *const from = alpha.data(), *const c = cap.data(), *const r = ridge.data(),
                        *const to_c = to_cap.data(), *const to_r = to_ridge.data();
    double *const out = carried.data();
    nb::gil_scoped_release release;
    prices.carry(from, c, r, to_c, to_r, rise, n, out);
}

template <class View> static void bind_rows(nb::module_ &m, const char *name) {
    using R = Rows<View>;
    nb::class_<R>(m, name)
        .def("squared_norms", &R::squared_norms, nb::arg("begin"), nb::arg("end"), nb::arg("out").noconvert())
        .def("scores", &R::scores, nb::arg("U").noconvert(), nb::arg("bias"), nb::arg("begin"), nb::arg("end"),
             nb::arg("Z").noconvert())
        .def("combine", &R::combine, nb::arg("coef").noconvert(), nb::arg("bias"), nb::arg("begin"), nb::arg("end"),
             nb::arg("U").noconvert())
        .def("descend", &R::descend, nb::arg("starts").noconvert().none(), nb::arg("cap").noconvert(),
             nb::arg("ridge").noconvert(), nb::arg("curvature").noconvert(), nb::arg("alpha").noconvert(),
             nb::arg("labels").noconvert(), nb::arg("mu").noconvert(), nb::arg("U").noconvert(), nb::arg("bias"),
             nb::arg("order").noconvert());
}

template <class Real> static void bind_gram(nb::module_ &m, const char *name) {
    using G = Gram<Real>;
    nb::class_<G>(m, name)
        .def("combine", &G::combine, nb::arg("rows").noconvert(), nb::arg("coef").noconvert(), nb::arg("Z").noconvert())
        .def("descend", &G::descend, nb::arg("starts").noconvert().none(), nb::arg("cap").noconvert(),
             nb::arg("ridge").noconvert(), nb::arg("curvature").noconvert(), nb::arg("alpha").noconvert(),
             nb::arg("pattern_of").noconvert(), nb::arg("patterns").noconvert(), nb::arg("mu").noconvert(),
             nb::arg("signed_scores").noconvert(), nb::arg("bias"), nb::arg("threshold"), nb::arg("order").noconvert())
        .def("descend_svm", &G::descend_svm, nb::arg("cap").noconvert(), nb::arg("ridge").noconvert(),
             nb::arg("curvature").noconvert(), nb::arg("alpha").noconvert(), nb::arg("labels").noconvert(),
             nb::arg("coef").noconvert(), nb::arg("f").noconvert(), nb::arg("bias"), nb::arg("goal"), nb::arg("tol"),
             nb::arg("patience"), nb::arg("most_epochs"), nb::arg("most_changes"), nb::arg("seed"),
             nb::arg("order").noconvert())
        .def("gather", &G::gather, nb::arg("chosen").noconvert(), nb::arg("begin"), nb::arg("values").noconvert())
        .def("nearest", &G::nearest, nb::arg("halves").noconvert(), nb::arg("begin"), nb::arg("found").noconvert());
    m.def("gram", &gram<Real>, nb::arg("K").noconvert(), nb::arg("places").noconvert() = nb::none());
}

template <class Real, class Index> static void bind_csr(nb::module_ &m, const char *name) {
    bind_rows<CsrRows<Real, Index>>(m, name);
    m.def("csr_rows", &csr_rows<Real, Index>, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("indptr").noconvert(), nb::arg("n_features"), nb::arg("places").noconvert() = nb::none());
}

template <class Real> static void bind_dense(nb::module_ &m, const char *name, const char *shifted_name) {
    bind_rows<DenseRows<Real>>(m, name);
    bind_rows<DenseRows<Real, true>>(m, shifted_name);
    m.def("dense_rows", &dense_rows<Real>, nb::arg("X").noconvert(), nb::arg("places").noconvert() = nb::none());
    m.def("shifted_rows", &shifted_rows<Real>, nb::arg("X").noconvert(), nb::arg("origin").noconvert(),
          nb::arg("places").noconvert() = nb::none());
}

NB_MODULE(_native, m) {
    m.doc() = "Hot loops of wellsvm; wellsvm.native.reference has the same functions in plain NumPy.";
    m.def("isa", &isa_name, "Instruction set in use: base, avx2 or avx512.");
    bind_dense<float>(m, "DenseRowsFloat32", "ShiftedRowsFloat32");
    bind_dense<double>(m, "DenseRowsFloat64", "ShiftedRowsFloat64");
    bind_csr<float, std::int32_t>(m, "CsrRowsFloat32Int32");
    bind_csr<float, std::int64_t>(m, "CsrRowsFloat32Int64");
    bind_csr<double, std::int32_t>(m, "CsrRowsFloat64Int32");
    bind_csr<double, std::int64_t>(m, "CsrRowsFloat64Int64");
    bind_gram<float>(m, "GramFloat32");
    bind_gram<double>(m, "GramFloat64");
    m.def("distances_to_cut", &distances_to_cut, nb::arg("f").noconvert(), nb::arg("y").noconvert(),
          nb::arg("rising").noconvert());
    m.def("shares_of_prices", &shares_of_prices, nb::arg("distances").noconvert(), nb::arg("rising").noconvert(),
          nb::arg("sure"), nb::arg("least"), nb::arg("price"));
    m.def("carry", &carry, nb::arg("alpha").noconvert(), nb::arg("cap").noconvert(), nb::arg("ridge").noconvert(),
          nb::arg("to_cap").noconvert(), nb::arg("to_ridge").noconvert(), nb::arg("rise"),
          nb::arg("carried").noconvert());
}
