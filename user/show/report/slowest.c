// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/slowest.h"

#include <string.h>

uint64_t slowest_time(const struct fact_transfer *transfer)
{
	return transfer->end - transfer->start;
}

void slowest_offer(struct slowest *slowest, const struct fact_transfer *transfer)
{
	struct fact_transfer *all = slowest->transfers;
	size_t at = slowest->len;

	if (transfer->end < transfer->start || transfer->end_precision == TIME_UNKNOWN)
		return;
	while (at && slowest_time(&all[at - 1]) < slowest_time(transfer))
		at--;
	if (at == SLOWEST_MAX)
		return;
	if (slowest->len < SLOWEST_MAX)
		slowest->len++;
	memmove(&all[at + 1], &all[at], (slowest->len - at - 1) * sizeof(*all));
	all[at] = *transfer;
}
