// SPDX-License-Identifier: BSD-3-Clause
#include "show/diff/number.h"

#include <stdlib.h>

#include "base/order.h"

struct diff_number spread_number(const struct spread *spread)
{
	if (!spread->count)
		return (struct diff_number){ 0 };
	return (struct diff_number){ true, spread_quantile(spread, 50), spread_quantile(spread, 10),
				     spread_quantile(spread, 90) };
}

struct diff_number number_of(uint64_t *values, size_t count)
{
	uint64_t below, above;

	if (!count)
		return (struct diff_number){ 0 };
	qsort(values, count, sizeof(*values), order_by_value);
	below = values[(count - 1) / 2];
	above = values[count / 2];
	return (struct diff_number){ true, below + (above - below) / 2, values[0],
				     values[count - 1] };
}

bool numbers_apart(const struct diff_number *a, const struct diff_number *b)
{
	return a->high < b->low || b->high < a->low;
}
