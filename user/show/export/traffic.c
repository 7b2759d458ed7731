// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/traffic.h"

#include <string.h>

#include "base/vec.h"
#include "show/export/sorter.h"

#define BUCKETS 1000 /* per host's trace */
#define LEAST_WIDTH 1000 /* ns */

struct traffic_piece {
	uint64_t start, end;
	uint64_t bytes; /* UINT64_MAX unknown; payload of data only */
	uint64_t count;
	int host;
	uint32_t transport, device; /* device: position in devices */
	enum fact_kind kind;
};

/* State while pieces are read in order. */
struct making {
	const struct traffic *traffic;
	const struct traffic_sink *to;
	struct busy busy; /* device NULL: none */
	const struct traffic_device *transport; /* any device of it; NULL: none */
	uint64_t from, width, bytes[BUCKETS + 1];
};

static int in_order(const void *left, const void *right)
{
	const struct traffic_piece *a = left, *b = right;
	const uint64_t words[][2] = {
		{ (uint64_t)a->host, (uint64_t)b->host },
		{ a->transport, b->transport },
		{ a->device, b->device },
		{ a->start, b->start },
		{ b->end, a->end },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i][0] != words[i][1])
			return words[i][0] < words[i][1] ? -1 : 1;
	return 0;
}

void traffic_init(struct traffic *traffic)
{
	*traffic = (struct traffic){ .sorter = sorter_new(sizeof(struct traffic_piece), in_order) };
}

void traffic_release(struct traffic *traffic)
{
	sorter_free(traffic->sorter);
	map_release(&traffic->numbers);
	map_release(&traffic->transports);
	vec_release(&traffic->devices);
	vec_release(&traffic->hosts);
}

static struct traffic_host *host_at(struct traffic *traffic, int host)
{
	while (traffic->hosts.len <= (size_t)host)
		vec_add(&traffic->hosts);
	return &traffic->hosts.data[host];
}

/* Names are interned: a pair of pointers identifies a device of a host. */
static uint32_t device_number(struct traffic *traffic, int host, const char *transport,
			      const char *device)
{
	uint64_t *number = map_insert(&traffic->numbers, (uintptr_t)transport,
				      (uintptr_t)device ^ (uint64_t)host << 48, NULL);
	uint64_t *of_transport;

	if (*number)
		return (uint32_t)*number - 1;
	of_transport = map_insert(&traffic->transports, (uintptr_t)transport, (uint64_t)host, NULL);
	if (!*of_transport)
		*of_transport = ++host_at(traffic, host)->transports;
	vec_push(&traffic->devices,
		 ((struct traffic_device){ host, transport, device, (uint32_t)*of_transport - 1 }));
	*number = traffic->devices.len;
	return (uint32_t)*number - 1;
}

void traffic_add(struct traffic *traffic, int host, const struct fact_transfer *transfer,
		 const struct fact_sums *sums)
{
	struct traffic_piece piece;
	struct traffic_host *seen;

	if (traffic->err || host < 0 || transfer->retried)
		return;
	memset(&piece, 0, sizeof(piece));
	piece.start = transfer->start;
	piece.end = transfer->end > transfer->start ? transfer->end : transfer->start;
	piece.bytes = sums ? sums->bytes : transfer->bytes;
	piece.count = sums ? sums->count : 1;
	piece.host = host;
	piece.device = device_number(traffic, host, transfer->transport, transfer->device);
	piece.transport = traffic->devices.data[piece.device].transport_number;
	piece.kind = transfer->kind;
	seen = host_at(traffic, host);
	if (!seen->last || piece.start < seen->first)
		seen->first = piece.start;
	if (piece.end > seen->last)
		seen->last = piece.end;
	traffic->err = sorter_add(traffic->sorter, &piece);
}

static void flush_busy(struct making *making)
{
	if (making->busy.device)
		making->to->busy(making->to->arg, &making->busy);
	making->busy.device = NULL;
}

static void flush_rate(struct making *making)
{
	for (size_t i = 0; making->transport && i <= BUCKETS; i++)
		if (making->bytes[i])
			making->to->rate(making->to->arg,
					 &(struct rate){ making->transport->host,
							 making->transport->transport,
							 making->from + i * making->width,
							 making->width, making->bytes[i] });
	making->transport = NULL;
}

static void begin_rate(struct making *making, const struct traffic_device *device)
{
	const struct traffic_host *host = &making->traffic->hosts.data[device->host];

	making->transport = device;
	making->from = host->first;
	making->width = (host->last - host->first) / BUCKETS + 1;
	if (making->width < LEAST_WIDTH)
		making->width = LEAST_WIDTH;
	memset(making->bytes, 0, sizeof(making->bytes));
}

/* Bytes transferred up to a time, such that the parts add up exactly. */
static uint64_t gone(const struct traffic_piece *piece, uint64_t at)
{
	if (at >= piece->end)
		return piece->bytes;
	return (uint64_t)((unsigned __int128)piece->bytes * (at - piece->start) /
			  (piece->end - piece->start));
}

static void add_rate(struct making *making, const struct traffic_piece *piece)
{
	uint64_t at = piece->start, before = 0;

	while (before < piece->bytes) {
		size_t bucket = (at - making->from) / making->width;
		uint64_t left = making->width - (at - making->from) % making->width;
		uint64_t next = at < UINT64_MAX - left ? at + left : UINT64_MAX;
		uint64_t now = gone(piece, next);

		making->bytes[bucket] += now - before;
		before = now;
		at = next;
	}
}

static void add_busy(struct making *making, const struct traffic_piece *piece)
{
	struct busy *busy = &making->busy;

	if (piece->end > busy->end)
		busy->end = piece->end;
	busy->count[piece->kind] += piece->count;
	if (piece->kind != KIND_DATA)
		return;
	if (piece->bytes == UINT64_MAX)
		busy->bytes_unknown += piece->count;
	else
		busy->bytes += piece->bytes;
}

static void make(struct making *making, const struct traffic_piece *piece)
{
	const struct traffic_device *device = &making->traffic->devices.data[piece->device];
	const struct traffic_device *transport = making->transport;

	if (making->busy.device != device || piece->start > making->busy.end) {
		flush_busy(making);
		making->busy = (struct busy){ .device = device,
					      .start = piece->start,
					      .end = piece->start };
	}
	add_busy(making, piece);
	if (!transport || transport->host != device->host ||
	    transport->transport != device->transport) {
		flush_rate(making);
		begin_rate(making, device);
	}
	if (piece->kind == KIND_DATA && piece->bytes != UINT64_MAX)
		add_rate(making, piece);
}

int traffic_each(struct traffic *traffic, const struct traffic_sink *sink)
{
	struct making making = { .traffic = traffic, .to = sink };
	const void *piece;
	int more = traffic->err ? traffic->err : sorter_finish(traffic->sorter);

	if (more < 0)
		return more;
	while ((more = sorter_next(traffic->sorter, &piece)) > 0)
		make(&making, piece);
	if (more < 0)
		return more;
	flush_busy(&making);
	flush_rate(&making);
	return 0;
}
