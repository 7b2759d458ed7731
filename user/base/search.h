/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_BASE_SEARCH_H
#define UCXBPF_BASE_SEARCH_H

#include <stddef.h>

/*
 * How many elements at the beginning of an ordered list meet a condition that none behind them
 * meets, by halving: the number of the first one that does not. The condition names an element's
 * number by the name given as at.
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

#endif
