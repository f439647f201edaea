// Asks for memory ahead of its use, where the compiler has a word for it.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define WELLSVM_PREFETCH(address) __builtin_prefetch(address)
#else
#define WELLSVM_PREFETCH(address) (void)(address)
#endif
