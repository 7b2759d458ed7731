// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/job.h"

#include <string.h>

#include "observe/process/process.h"

bool job_is(const char *job, const char *id)
{
	size_t length = strlen(id);

	return length && !strncmp(job, id, length) && (!job[length] || job[length] == '.');
}

/* The value of "NAME=VALUE" where NAME is that of a job's id. */
static const char *job_of(const char *variable)
{
	for (const char *const *name = batch_variables; *name; name++) {
		size_t length = strlen(*name);

		if (!strncmp(variable, *name, length) && variable[length] == '=')
			return variable + length + 1;
	}
	return NULL;
}

bool job_has(const char *environment, size_t size, const char *id)
{
	const char *end = environment + size, *value;

	for (const char *at = environment; at < end; at += strlen(at) + 1) {
		value = job_of(at);
		if (value && job_is(value, id))
			return true;
	}
	return false;
}
