// SPDX-License-Identifier: BSD-3-Clause
#include "base/signal_name.h"

#include <stdio.h>
#include <string.h>

void signal_text(char *out, size_t size, unsigned int number)
{
	const char *name = sigabbrev_np((int)number);

	if (name)
		snprintf(out, size, "signal %u (SIG%s)", number, name);
	else
		snprintf(out, size, "signal %u", number);
}
