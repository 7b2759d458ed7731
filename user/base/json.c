// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

json_t *json_hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%#" PRIx64, value);
	return json_string(text);
}
