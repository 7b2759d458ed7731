// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/self.h"

#include <stdio.h>
#include <string.h>

static uint64_t number(const json_t *side, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(side, name));

	return value > 0 ? (uint64_t)value : 0;
}

static void add_level(struct fact_self *self, const char *level)
{
	for (int i = 0; i < FACT_LEVELS; i++)
		if (level && !strcmp(level, fact_level_names[i]))
			self->levels[i] = true;
}

/* With a budget, what windows had; their step "windows" is one of all layers. */
static bool add_steps(struct fact_self *self, const json_t *sides)
{
	const json_t *side;
	bool some = false;
	size_t i;

	json_array_foreach((json_t *)sides, i, side)
	{
		const char *t = json_string_value(json_object_get(side, "t"));
		const char *step = json_string_value(json_object_get(side, "step"));

		if (!t || strcmp(t, "window") != 0 || !step)
			continue;
		add_level(self, strcmp(step, "windows") != 0 ? step : "uct");
		some = true;
	}
	return some;
}

static void add_cost(struct fact_self *self, const json_t *side)
{
	const char *unknown = json_string_value(json_object_get(side, "kernel_unknown"));
	uint64_t peak = number(side, "memory_peak");

	self->known++;
	self->records += number(side, "records");
	self->bytes += number(side, "bytes");
	self->cpu_ns += number(side, "cpu_ns");
	if (peak > self->memory_peak)
		self->memory_peak = peak;
	if (unknown)
		snprintf(self->kernel_unknown, sizeof(self->kernel_unknown), "%s", unknown);
	if (!json_object_get(side, "kernel_ns"))
		return;
	if (json_object_get(side, "kernel_spread_ns")) {
		self->spread_known++;
		self->kernel_spread += number(side, "kernel_spread_ns");
	}
	self->kernel_known++;
	self->kernel_ns += number(side, "kernel_ns");
	self->hits += number(side, "hits");
	self->sampled_hits += number(side, "sampled_hits");
}

static void add_consumer(struct fact_self *self, const json_t *side)
{
	self->drained_known++;
	self->threads += number(side, "threads");
	self->rings += number(side, "rings");
	self->ring_bytes += number(side, "ring_bytes");
	self->grown += number(side, "grown");
	self->drained += number(side, "records");
	self->drained_ns += number(side, "cpu_ns");
}

static const json_t *last_of(const json_t *sides, const char *type)
{
	const json_t *side, *found = NULL;
	size_t i;

	json_array_foreach((json_t *)sides, i, side)
	{
		const char *t = json_string_value(json_object_get(side, "t"));

		if (t && !strcmp(t, type))
			found = side;
	}
	return found;
}

void self_add(struct fact_self *self, const json_t *sides)
{
	const json_t *cost = last_of(sides, "self"), *consumer = last_of(sides, "consumer");

	self->captures++;
	if (!add_steps(self, sides))
		add_level(self,
			  json_string_value(json_object_get(last_of(sides, "capture"), "level")));
	if (cost)
		add_cost(self, cost);
	if (consumer)
		add_consumer(self, consumer);
}

const char *const fact_level_names[FACT_LEVELS] = { "mpi", "ucp", "uct" };
