// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/functions.h"

#include "show/report/words.h"

enum { PROCESS, FUNCTION }; /* keys of the sums of calls */

static struct report_function *function_at(struct report_functions *functions, uint64_t name)
{
	struct report_function *function;

	for (size_t i = 0; i < functions->rows.len; i++)
		if (functions->rows.data[i].name == name)
			return &functions->rows.data[i];
	function = vec_add(&functions->rows);
	function->name = name;
	function->exact = true;
	return function;
}

static void add(struct report_functions *functions, const struct cube_row *row)
{
	struct report_function *function = function_at(functions, row->key[FUNCTION]);
	const struct cube_sums *sums = &row->sums;
	const uint64_t time = sums->time_sum;

	function->calls += sums->count;
	function->time += time;
	function->precisions |= sums->precisions;
	/* calls without any time make the sum a bound */
	if (sums->timed < sums->count)
		function->precisions |= 1u << TIME_LOWER_BOUND;
	function->exact = function->exact && sums->exact == sums->count;
	if (!function->processes++ || time < function->least) {
		function->least = time;
		function->least_by = (int)row->key[PROCESS];
	}
	if (function->processes == 1 || time > function->most) {
		function->most = time;
		function->most_by = (int)row->key[PROCESS];
	}
}

static int by_time(const void *left, const void *right)
{
	const struct report_function *a = left, *b = right;
	int order = descending(a->time, b->time);

	return order ? order : by_word(a->name, b->name);
}

void report_functions_sum(struct report_functions *functions, const struct cube *calls,
			  const struct durations *durations)
{
	size_t known = 0;

	for (size_t i = 0; i < calls->rows.len; i++)
		add(functions, &calls->rows.data[i]);
	for (size_t i = 0; i < functions->rows.len; i++) {
		struct report_function *function = &functions->rows.data[i];

		function->durations = durations_of(durations, &function->name);
		if (function->time)
			functions->rows.data[known++] = *function;
	}
	functions->rows.len = known;
	if (known)
		qsort(functions->rows.data, known, sizeof(*functions->rows.data), by_time);
}

void report_functions_release(struct report_functions *functions)
{
	vec_release(&functions->rows);
}

double report_function_imbalance(const struct report_function *function)
{
	return (double)function->most * (double)function->processes / (double)function->time;
}

const struct report_function *report_function(const struct report_functions *functions,
					      uint64_t name)
{
	for (size_t i = 0; i < functions->rows.len; i++)
		if (functions->rows.data[i].name == name)
			return &functions->rows.data[i];
	return NULL;
}
