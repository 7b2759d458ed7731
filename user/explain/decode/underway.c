// SPDX-License-Identifier: BSD-3-Clause
/*
 * What looks at the processes found under way: the MPI calls that threads were in, and what their
 * workers had queued.
 */
#include <string.h>

#include "explain/decode/internal.h"

#define MAX_THREADS 1024 /* of a process: far more than a tracer looks at */

/* By the letter in /proc/PID/stat (fs/proc/array.c: task_state_array). */
static const struct {
	char letter;
	const char *word;
} states[] = {
	{ 'R', "running" },
	{ 'S', "sleeping" },
	{ 'D', "in uninterruptible sleep" },
	{ 'T', "stopped" },
	{ 't', "stopped by a debugger" },
	{ 'Z', "ended" },
};

static const char *state_word(const char *letter)
{
	for (size_t i = 0; letter && i < sizeof(states) / sizeof(*states); i++)
		if (states[i].letter == letter[0] && !letter[1])
			return states[i].word;
	return NULL;
}

static struct thread_looks *looks_of(struct process *process, uint32_t tid)
{
	for (size_t i = 0; i < process->threads.len; i++)
		if (process->threads.data[i].tid == tid)
			return &process->threads.data[i];
	return NULL;
}

const struct thread_looks *process_thread(const struct process *process, uint32_t tid)
{
	return looks_of((struct process *)process, tid);
}

void decode_thread(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const uint64_t ts = side_u64(side, "ts");
	struct process *process = process_at(decoder, capture->host, side_u64(side, "tgid"), ts);
	const uint32_t tid = side_u64(side, "tid");
	struct thread_looks *looks;
	struct thread_look look = {
		.ts = ts,
		.state = state_word(json_string_value(json_object_get(side, "state"))),
		.function = side_string(decoder, side, "function"),
		.address = side_u64(side, "address"),
		.frame = side_u64(side, "frame"),
		.outside = json_is_true(json_object_get(side, "outside")),
		.reason = side_string(decoder, side, "reason"),
	};

	if (!process || process->threads.len >= MAX_THREADS)
		return;
	if (look.function && look.address)
		look.place = decoder_place(
			decoder, &(struct event){ .capture = capture, .process = process },
			look.address);
	looks = looks_of(process, tid);
	if (!looks) {
		vec_push(&process->threads, ((struct thread_looks){ tid, look, look }));
		return;
	}
	if (!look.reason && (ts < looks->first.ts || looks->first.reason))
		looks->first = look;
	if (ts >= looks->last.ts)
		looks->last = look;
}

static uint64_t hex_at(const json_t *row, size_t i)
{
	const char *text = json_string_value(json_array_get(row, i));

	return text ? strtoull(text, NULL, 16) : 0;
}

static uint64_t bytes_at(const json_t *row, size_t i)
{
	const json_t *value = json_array_get(row, i);

	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : UINT64_MAX;
}

/*
 * Rows: [request, tag, mask, offloaded], [request, endpoint, tag, bytes, id, moved, copied],
 * [tag, bytes, sender's request]. Older captures lack id and what follows.
 */
static struct queued queued_from(enum queued_what what, const json_t *row, uint64_t ts)
{
	struct queued queued = { .what = what, .ts = ts, .mask = UINT64_MAX, .bytes = UINT64_MAX };

	switch (what) {
	case QUEUED_RECEIVE:
		queued.request = hex_at(row, 0);
		queued.tag = hex_at(row, 1);
		queued.mask = hex_at(row, 2);
		queued.offloaded = json_is_true(json_array_get(row, 3));
		break;
	case QUEUED_SEND:
		queued.request = hex_at(row, 0);
		queued.ep = hex_at(row, 1);
		queued.tag = hex_at(row, 2);
		queued.bytes = bytes_at(row, 3);
		queued.followed = json_is_string(json_array_get(row, 4));
		queued.id = hex_at(row, 4);
		queued.moved = bytes_at(row, 5);
		queued.copied = json_is_true(json_array_get(row, 6));
		break;
	case QUEUED_MESSAGE:
		queued.tag = hex_at(row, 0);
		queued.bytes = bytes_at(row, 1);
		queued.request = hex_at(row, 2);
		break;
	}
	return queued;
}

void decode_queues(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	static const char *const lists[] = { "posted", "sends", "waiting" };
	const uint64_t ts = side_u64(side, "ts"), worker = side_u64(side, "worker");
	struct process *process = process_at(decoder, capture->host, side_u64(side, "tgid"), ts);
	struct unread_queues unread = {
		.ts = ts,
		.worker = worker,
		.reason = side_string(decoder, side, "reason"),
		.cut = side_u64(side, "cut"),
	};
	uint64_t *last;

	if (!process)
		return;
	last = map_insert(&decoder->queue_looks, worker, (uint64_t)process->id, NULL);
	if (ts < *last)
		return;
	*last = ts;
	if (worker)
		process->queues_read = ts;
	if (unread.reason || unread.cut)
		vec_push(&process->unread, unread);
	for (unsigned int what = 0; what < sizeof(lists) / sizeof(*lists); what++) {
		const json_t *row;
		size_t i;

		json_array_foreach(json_object_get(side, lists[what]), i, row)
		{
			struct queued queued = queued_from(what, row, ts);

			queued.worker = worker;
			vec_push(&process->queued, queued);
		}
	}
}

static bool is_latest(const struct decoder *decoder, const struct process *process, uint64_t worker,
		      uint64_t ts)
{
	return ts == *map_find(&decoder->queue_looks, worker, (uint64_t)process->id);
}

void underway_ready(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->processes.len; i++) {
		struct process *process = decoder->processes.data[i];
		size_t left = 0;

		for (size_t k = 0; k < process->queued.len; k++) {
			const struct queued *queued = &process->queued.data[k];

			if (is_latest(decoder, process, queued->worker, queued->ts))
				process->queued.data[left++] = *queued;
		}
		process->queued.len = left;
		left = 0;
		for (size_t k = 0; k < process->unread.len; k++) {
			const struct unread_queues *unread = &process->unread.data[k];

			if (is_latest(decoder, process, unread->worker, unread->ts))
				process->unread.data[left++] = *unread;
		}
		process->unread.len = left;
	}
}
