// SPDX-License-Identifier: BSD-3-Clause
#include "match/input.h"

#include <stdlib.h>
#include <string.h>

#include "match/totals.h"

static void read_clock(struct input *input)
{
	const json_t *side;
	size_t i;

	json_array_foreach(input->source.sides, i, side)
	{
		const char *type = json_string_value(json_object_get(side, "t"));

		if (type && !strcmp(type, "clock") && !input->real) {
			input->mono = json_integer_value(json_object_get(side, "mono"));
			input->real = json_integer_value(json_object_get(side, "real"));
			input->to_real = (int64_t)(input->real - input->mono);
		}
		if (type && !strcmp(type, "capture")) {
			input->host = json_string_value(
				json_object_get(json_object_get(side, "host"), "id"));
			input->started = json_integer_value(json_object_get(side, "ts"));
		}
	}
}

struct input *input_new(const struct record_source *source)
{
	struct input *input = calloc(1, sizeof(*input));

	if (!input)
		abort();
	input->source = *source;
	/* what no thread tells of may have been of any kind */
	input->holes = source->damaged || source->refused;
	input->capture.lost_memory = source->stats.dropped[UB_MEM] || input->holes;
	read_clock(input);
	return input;
}

void input_free(struct input *input)
{
	if (!input)
		return;
	if (input->source.release)
		input->source.release(input->source.ctx);
	capture_release(&input->capture);
	gaps_release(&input->gaps);
	free(input);
}

static int canonical(const void *left, const void *right)
{
	const struct input *a = *(struct input *const *)left, *b = *(struct input *const *)right;
	int hosts = strcmp(a->host ? a->host : "", b->host ? b->host : "");

	if (hosts)
		return hosts;
	return a->started < b->started ? -1 : a->started > b->started;
}

void inputs_sort(inputs *inputs)
{
	if (inputs->len)
		qsort(inputs->data, inputs->len, sizeof(*inputs->data), canonical);
}

int input_open(struct input *input)
{
	int err = 0;

	if (stats_dropped(&input->source.stats) || input->holes)
		err = gaps_find(&input->gaps, &input->source);
	return err < 0 ? err : input->source.next(input->source.ctx, &input->head);
}

struct input *inputs_earliest(const inputs *inputs)
{
	struct input *found = NULL;
	uint64_t found_ts = 0;

	for (size_t i = 0; i < inputs->len; i++) {
		struct input *input = inputs->data[i];
		uint64_t ts;

		if (!input->head)
			continue;
		ts = input->head->ts + (uint64_t)input->to_real;
		if (!found || ts < found_ts) {
			found = input;
			found_ts = ts;
		}
	}
	return found;
}
