// SPDX-License-Identifier: BSD-3-Clause
#include "base/ucs_status.h"

#include "base/vec.h"

/* By number without its sign: src/ucs/type/status.h, the same in UCX 1.13 to 1.22. */
static const char *const names[] = {
	[1] = "UCS_ERR_NO_MESSAGE",
	[2] = "UCS_ERR_NO_RESOURCE",
	[3] = "UCS_ERR_IO_ERROR",
	[4] = "UCS_ERR_NO_MEMORY",
	[5] = "UCS_ERR_INVALID_PARAM",
	[6] = "UCS_ERR_UNREACHABLE",
	[7] = "UCS_ERR_INVALID_ADDR",
	[8] = "UCS_ERR_NOT_IMPLEMENTED",
	[9] = "UCS_ERR_MESSAGE_TRUNCATED",
	[10] = "UCS_ERR_NO_PROGRESS",
	[11] = "UCS_ERR_BUFFER_TOO_SMALL",
	[12] = "UCS_ERR_NO_ELEM",
	[13] = "UCS_ERR_SOME_CONNECTS_FAILED",
	[14] = "UCS_ERR_NO_DEVICE",
	[15] = "UCS_ERR_BUSY",
	[16] = "UCS_ERR_CANCELED",
	[17] = "UCS_ERR_SHMEM_SEGMENT",
	[18] = "UCS_ERR_ALREADY_EXISTS",
	[19] = "UCS_ERR_OUT_OF_RANGE",
	[20] = "UCS_ERR_TIMED_OUT",
	[21] = "UCS_ERR_EXCEEDS_LIMIT",
	[22] = "UCS_ERR_UNSUPPORTED",
	[23] = "UCS_ERR_REJECTED",
	[24] = "UCS_ERR_NOT_CONNECTED",
	[25] = "UCS_ERR_CONNECTION_RESET",
	[40] = "UCS_ERR_FIRST_LINK_FAILURE",
	[59] = "UCS_ERR_LAST_LINK_FAILURE",
	[60] = "UCS_ERR_FIRST_ENDPOINT_FAILURE",
	[80] = "UCS_ERR_ENDPOINT_TIMEOUT",
	[89] = "UCS_ERR_LAST_ENDPOINT_FAILURE",
};

const char *ucs_status_name(int status)
{
	const int number = -status;

	return number > 0 && number < (int)ARRAY_SIZE(names) && names[number] ? names[number]
									      : "unknown";
}
