// Columns of a sparse row, a few at a time: read once, compared once, used from the register they were read into.
//
// To compare one column with the limit takes two instructions, to compare eight that lie in one register takes four. So
// a loop over a row runs over blocks of columns; docs/performance.md has what it costs.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__AVX2__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace wellsvm::WELLSVM_ISA {

// The index at `at`, a negative one as a number beyond every limit. Volatile: the compiler must not read it again after
// the comparison.
template <class Index> inline std::uint64_t read_once(const Index *at) {
    return static_cast<std::make_unsigned_t<Index>>(*static_cast<const volatile Index *>(at));
}

#if defined(__AVX2__) && defined(__GNUC__)

inline constexpr int register_bytes = 32;

// N columns in one register of 16 or 32 bytes.
template <class Index, int N> class Columns {
    using Unsigned = std::make_unsigned_t<Index>;
    static constexpr int bits = 8 * sizeof(Index);
    typedef Unsigned Lanes __attribute__((vector_size(N * sizeof(Index))));
    Lanes lanes, last;

  public:
    explicit Columns(std::int64_t n_features) {
        const std::int64_t most = static_cast<std::int64_t>(~Unsigned(0) >> 1), known = n_features - 1;
        last = Lanes{} + static_cast<Unsigned>(known < most ? known : most);
    }
    // Read the columns from `at` on; false where one lies outside the matrix.
    bool read(const Index *at) {
        __builtin_memcpy(&lanes, at, sizeof lanes);
        __asm__("" : "+x"(lanes)); // the compiler must not read one of them again after the comparison
        const Lanes beyond = lanes | (last - lanes); // the top bit is set in a negative one, and in one beyond the last
        const Lanes top = Lanes{} + (Unsigned(1) << (bits - 1));
        if constexpr (sizeof(Lanes) == register_bytes)
            return _mm256_testz_si256(reinterpret_cast<__m256i>(beyond), reinterpret_cast<__m256i>(top));
        else
            return _mm_testz_si128(reinterpret_cast<__m128i>(beyond), reinterpret_cast<__m128i>(top));
    }
    std::uint64_t operator[](int c) const { return lanes[c]; }
};

#else

inline constexpr int register_bytes = 0;

template <class Index, int N> class Columns {
    std::uint64_t columns[N], limit;

  public:
    explicit Columns(std::int64_t n_features) : limit(static_cast<std::uint64_t>(n_features)) {}
    bool read(const Index *at) {
        for (int c = 0; c < N; ++c)
            if ((columns[c] = read_once(at + c)) >= limit) return false;
        return true;
    }
    std::uint64_t operator[](int c) const { return columns[c]; }
};

#endif

// How many columns a loop takes at once: first so many, then four, then one.
template <class Index>
inline constexpr int many_columns = register_bytes > 4 * int(sizeof(Index)) ? register_bytes / int(sizeof(Index)) : 4;

} // namespace wellsvm::WELLSVM_ISA
