/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorded capture, written again as another node's: its names, numbers and clock are changed. */
#ifndef UCXBPF_BENCH_RECAST_H
#define UCXBPF_BENCH_RECAST_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "file/file.h"

struct recast {
	const char *host_id, *host_name; /* NULL: as recorded */
	uint32_t tgid; /* added to all */
	unsigned long long
		uuid; /* exclusive or with all uuids of workers: the same for all nodes of a job */
	/* a clock that shows offset more at its time 'from', and then goes drift times faster */
	int64_t offset;
	uint64_t from;
	double drift; /* 1e-6: a millionth */
};

static inline uint64_t recast_time(const struct recast *cast, uint64_t ts)
{
	return ts + cast->offset + llrint(cast->drift * ((double)ts - (double)cast->from));
}

static inline void recast_number(json_t *side, const char *name, uint64_t value)
{
	if (json_object_get(side, name))
		json_object_set_new(side, name, json_integer((json_int_t)value));
}

static inline void recast_hex(const struct recast *cast, json_t *side, const char *name)
{
	const char *text = json_string_value(json_object_get(side, name));

	if (text)
		json_object_set_new(side, name,
				    json_sprintf("0x%llx", strtoull(text, NULL, 16) ^
								   (unsigned long long)cast->uuid));
}

static inline uint64_t recast_get(const json_t *side, const char *name)
{
	return json_integer_value(json_object_get(side, name));
}

static inline void recast_host(const struct recast *cast, json_t *side)
{
	json_t *host = json_object_get(side, "host");

	if (json_is_object(host) && cast->host_id)
		json_object_set_new(host, "id", json_string(cast->host_id));
	if (json_is_object(host) && cast->host_name)
		json_object_set_new(host, "name", json_string(cast->host_name));
	if (json_object_get(side, "uts") && cast->host_name)
		json_object_set_new(side, "uts", json_string(cast->host_name));
}

static inline json_t *recast_side(const struct recast *cast, const json_t *from)
{
	static const char *const times[] = { "ts", "start_time", "mono" };
	json_t *side = json_deep_copy(from);

	recast_host(cast, side);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		recast_number(side, times[i], recast_time(cast, recast_get(side, times[i])));
	recast_number(side, "tgid", recast_get(side, "tgid") + cast->tgid);
	recast_number(side, "ns_pid", recast_get(side, "ns_pid") + cast->tgid);
	recast_hex(cast, side, "uuid");
	recast_hex(cast, side, "peer_uuid");
	return side;
}

/* Room for the largest record. */
union recast_record {
	struct ub_hdr head;
	struct ub_obj object;
	char bytes[1024];
};

static inline void recast_record(const struct recast *cast, union recast_record *record)
{
	uint64_t end = recast_time(cast, record->head.ts + record->head.dur);

	record->head.ts = recast_time(cast, record->head.ts);
	if (record->head.dur)
		record->head.dur = (uint32_t)(end - record->head.ts);
	record->head.tgid += cast->tgid;
	record->head.tid += cast->tgid;
	if (record->head.kind == UB_OBJ && record->object.uuid)
		record->object.uuid ^= cast->uuid;
}

/* What is recast many times is read once. */
struct recorded {
	struct file_reader *reader; /* keeps the sides */
	VEC(union recast_record) records;
};

static inline int recorded_read(struct recorded *recorded, const char *path)
{
	const struct ub_hdr *record;
	const char *why = NULL;
	int got, error = file_reader_open(&recorded->reader, path, &why);

	if (error) {
		fprintf(stderr, "%s: %s\n", path, why ? why : strerror(-error));
		return error;
	}
	while ((got = file_reader_next(recorded->reader, &record)) > 0)
		memcpy(vec_add(&recorded->records), record, ub_kind_size(record->kind));
	return got;
}

static inline void recorded_release(struct recorded *recorded)
{
	file_reader_free(recorded->reader);
	vec_release(&recorded->records);
}

static inline int recorded_write(const struct recorded *recorded, const struct recast *cast,
				 const char *path)
{
	const struct ub_stats *stats = file_reader_stats(recorded->reader);
	struct file_writer *writer;
	const json_t *side;
	size_t i;
	int error = file_writer_open(&writer, path), closed;

	if (error)
		return error;
	json_array_foreach(file_reader_sides(recorded->reader), i, side)
	{
		json_t *own = recast_side(cast, side);

		error = error ? error : file_writer_side(writer, own);
		json_decref(own);
	}
	for (i = 0; i < recorded->records.len && !error; i++) {
		union recast_record record = recorded->records.data[i];

		recast_record(cast, &record);
		error = file_writer_record(writer, &record.head);
	}
	closed = file_writer_close(writer, stats);
	return error ? error : closed;
}

#endif
