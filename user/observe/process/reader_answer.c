// SPDX-License-Identifier: BSD-3-Clause
/* Answers, in a file of their own: a fuzzer makes some without a reader (tests/fuzz/reader.c). */
#include "observe/process/reader.h"

#include <string.h>

void answer_add(reader_answer *answer, const void *data, size_t size)
{
	if (!size)
		return;
	vec_reserve(answer, answer->len + size);
	memcpy(answer->data + answer->len, data, size);
	answer->len += size;
}

bool answer_take(const reader_answer *answer, size_t *at, void *data, size_t size)
{
	if (size > answer->len - *at)
		return false;
	if (size)
		memcpy(data, answer->data + *at, size);
	*at += size;
	return true;
}
