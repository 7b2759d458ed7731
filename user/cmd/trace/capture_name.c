// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/capture_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "observe/process/process.h"

#define NONE "none"

typedef VEC(char) text;

static void put(text *name, const char *value)
{
	for (const char *at = value; *at; at++) {
		/* no value leads to another folder */
		const bool usual = isalnum((unsigned char)*at) || strchr("_-", *at) ||
				   (*at == '.' && at > value);

		vec_push(name, usual ? *at : '_');
	}
}

static void put_host(text *name)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	put(name, *host ? host : NONE);
}

static void put_time(text *name)
{
	time_t now = time(NULL);
	struct tm utc;
	char at[32];

	gmtime_r(&now, &utc);
	strftime(at, sizeof(at), "%Y%m%dT%H%M%S", &utc);
	put(name, at);
}

/* -1: this process is no rank of a job. */
static int own_rank(void)
{
	struct os_process process;
	int rank;

	if (process_init(&process, getpid()))
		return -1;
	rank = process.rank;
	process_release(&process);
	return rank;
}

static void put_number(text *name, long number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%ld", number);
	put(name, number < 0 ? NONE : digits);
}

/* The first of these variables that is set. */
static void put_variable(text *name, const char *const *variables)
{
	const char *value = NULL;

	for (; *variables && !value; variables++)
		value = getenv(*variables);
	put(name, value && *value ? value : NONE);
}

static bool put_value(text *name, char placeholder)
{
	static const char *const steps[] = { "SLURM_STEP_ID", NULL };

	switch (placeholder) {
	case 'h':
		put_host(name);
		return true;
	case 'p':
		put_number(name, getpid());
		return true;
	case 'r':
		put_number(name, own_rank());
		return true;
	case 'j':
		put_variable(name, batch_variables);
		return true;
	case 's':
		put_variable(name, steps);
		return true;
	case 't':
		put_time(name);
		return true;
	case '%':
		vec_push(name, '%');
		return true;
	}
	return false;
}

char *capture_name(const char *template)
{
	text name = { 0 };

	for (; *template; template ++) {
		if (*template != '%') {
			vec_push(&name, *template);
		} else if (!put_value(&name, *++template)) {
			vec_release(&name);
			return NULL;
		}
	}
	vec_push(&name, '\0');
	return name.data;
}

const char *capture_name_default(void)
{
	return own_rank() < 0 ? "ucxbpf.ucxb" : "ucxbpf.%h.%p.ucxb";
}
