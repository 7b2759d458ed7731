/* SPDX-License-Identifier: BSD-3-Clause */
/* Order of numbers, sums, and sorted arrays: comparisons, binary search, and heaps. */
#ifndef UCXBPF_BASE_ORDER_H
#define UCXBPF_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

static inline int order_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The earlier and the later of two times. */
static inline uint64_t order_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t order_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A sum that overflows stays at the maximum: it is the same in any order of additions. */
static inline uint64_t order_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* For qsort(3), of uint64_t. */
static inline int order_by_value(const void *left, const void *right)
{
	return order_compare(*(const uint64_t *)left, *(const uint64_t *)right);
}

/*
 * Binary search in an array whose first elements meet a condition that no later one meets: the
 * number of elements that meet it. The condition refers to an element's index by the name given as
 * at.
 */
#define search_count(count, at, condition)                                                         \
	({                                                                                         \
		size_t search_from_ = 0, search_to_ = (count);                                     \
                                                                                                   \
		while (search_from_ < search_to_) {                                                \
			size_t at = search_from_ + (search_to_ - search_from_) / 2;                \
                                                                                                   \
			if (condition)                                                             \
				search_from_ = at + 1;                                             \
			else                                                                       \
				search_to_ = at;                                                   \
		}                                                                                  \
		search_from_;                                                                      \
	})

/*
 * A heap in an array: the element at i is not behind those at 2i + 1 and 2i + 2, so 0 is first.
 * Sifts the element at a position down: the first one, once it has changed or was replaced by the
 * last; all of them, from the last to the first, to build a heap. before(a, b): function or macro
 * of two addresses.
 */
#define heap_sink(list, count, from, before)                                                       \
	do {                                                                                       \
		size_t heap_at_ = (from), heap_count_ = (count), heap_child_;                      \
		__typeof__(&*(list)) heap_ = (list);                                               \
		__typeof__(*heap_) heap_moved_ = heap_[heap_at_];                                  \
                                                                                                   \
		while ((heap_child_ = 2 * heap_at_ + 1) < heap_count_) {                           \
			if (heap_child_ + 1 < heap_count_ &&                                       \
			    before(&heap_[heap_child_ + 1], &heap_[heap_child_]))                  \
				heap_child_++;                                                     \
			if (!before(&heap_[heap_child_], &heap_moved_))                            \
				break;                                                             \
			heap_[heap_at_] = heap_[heap_child_];                                      \
			heap_at_ = heap_child_;                                                    \
		}                                                                                  \
		heap_[heap_at_] = heap_moved_;                                                     \
	} while (0)

#endif
