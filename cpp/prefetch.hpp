// What the language has no word for: asking for memory ahead of its use, and using a copy because it is one.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define WELLSVM_PREFETCH(address) __builtin_prefetch(address)
// The compiler must take it that the memory at `address` was changed here, and cannot read the original instead.
#define WELLSVM_USE_COPY(address) asm volatile("" : : "r"(address) : "memory")
#else
#include <intrin.h>
#define WELLSVM_PREFETCH(address) (void)(address)
#define WELLSVM_USE_COPY(address) _ReadWriteBarrier()
#endif
