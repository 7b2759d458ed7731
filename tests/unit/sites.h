/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking rows of the table of sites up. */
#ifndef TESTS_UNIT_SITES_H
#define TESTS_UNIT_SITES_H

#include <string.h>

#include "observe/probe/sites.h"

/* Row of a symbol, 0 = none. */
static inline unsigned int site_by_symbol(const char *symbol)
{
	for (unsigned int row = 1; row < site_count(); row++)
		if (!strcmp(site_row(row)->symbol, symbol))
			return row;
	return 0;
}

#endif
