// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>

#include "base/duration.h"
#include "show/page/page.h"

int page_window_parse(const char *text, struct page_window *window)
{
	const char *end;

	if (duration_parse(text, &end, &window->from) || *end != ':' ||
	    duration_parse(end + 1, &end, &window->to) || *end || window->from >= window->to)
		return -EINVAL;
	return 0;
}
