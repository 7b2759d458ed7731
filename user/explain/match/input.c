// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/input.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "explain/match/totals.h"

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
			const json_t *host = json_object_get(side, "host");

			input->host = json_string_value(json_object_get(host, "id"));
			input->host_name = json_string_value(json_object_get(host, "name"));
			input->started = json_integer_value(json_object_get(side, "ts"));
		}
	}
}

/* Records that no thread reports may have been of any kind. */
static void any_may_be_missing(struct input *input)
{
	input->holes = true;
	input->capture.lost_objects = true;
	input->capture.lost_memory = true;
}

struct input *input_new(const struct record_source *source)
{
	struct input *input = calloc(1, sizeof(*input));

	if (!input)
		abort();
	input->source = *source;
	input->capture.lost_objects = source->stats.dropped[UB_OBJ];
	input->capture.lost_memory = source->stats.dropped[UB_MEM];
	if (source->damaged || source->refused)
		any_may_be_missing(input);
	read_clock(input);
	input->extent = extent_of(source->sides);
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
	for (size_t i = 0; i < inputs->len; i++)
		inputs->data[i]->place = i;
}

int input_open(struct input *input)
{
	int err = 0;

	if (stats_dropped(&input->source.stats) || input->holes || input->source.incomplete)
		err = gaps_find(&input->gaps, &input->source);
	if (input->source.incomplete && input->gaps.all.len)
		any_may_be_missing(input);
	return err < 0 ? err : input->source.next(input->source.ctx, &input->head);
}

/* Of two at one time, the one that is sorted first. */
static bool before(struct input *const *left, struct input *const *right)
{
	const struct input *a = *left, *b = *right;
	uint64_t a_ts = a->head->ts + (uint64_t)a->to_real;
	uint64_t b_ts = b->head->ts + (uint64_t)b->to_real;

	return a_ts == b_ts ? a->place < b->place : a_ts < b_ts;
}

void inputs_queue(inputs *queue, const inputs *all)
{
	for (size_t i = 0; i < all->len; i++)
		if (all->data[i]->head)
			vec_push(queue, all->data[i]);
	for (size_t i = queue->len; i-- > 0;)
		heap_sink(queue->data, queue->len, i, before);
}

void inputs_requeue(inputs *queue)
{
	if (!queue->data[0]->head)
		queue->data[0] = queue->data[--queue->len];
	if (queue->len)
		heap_sink(queue->data, queue->len, 0, before);
}
