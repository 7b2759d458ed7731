// SPDX-License-Identifier: BSD-3-Clause
/*
 * Exports facts that no capture here has: names that are meant to do harm, GPUs, losses.
 * madefacts FORMAT OUT; OUT - is standard output.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "show/export/export.h"

static char long_name[4097];

static const char *const names[] = {
	"</script><script>alert(1)</script>",
	"<!--<img src=x onerror=alert(1)>",
	"line one\nline two\r\n",
	"quo\"te,'se;mi\\back",
	"=1+1",
	"+1",
	"-1",
	"@SUM(A1)",
	"\t=tab",
	"\xff\xfe no utf-8 \xc3",
	"\xc0\xaf overlong",
	"\xed\xa0\x80 surrogate",
	"\x1b[31mred\x1b[0m\x7f",
	"\302\23331m c1",
	"\xe2\x80\xa8 separator, \xe2\x80\xae override \xe2\x81\xa6",
	"\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80",
	"'; DROP TABLE call_event; --",
	"%s%n ${x} $(x) `x`",
	"../../up",
	"[brackets] 12",
	"null",
	long_name,
};

#define NAMES (sizeof(names) / sizeof(names[0]))

static struct place places[NAMES];
static const struct place *frames[NAMES];

/* Keys are the names' own: one text per place. */
static void make_places(void)
{
	for (size_t i = 0; i < NAMES; i++) {
		places[i] = (struct place){
			.key = names[i],
			.label = names[i],
			.frame = names[i],
			.module = names[i],
			.symbol = names[i],
			.file = names[i],
			.offset = 0x1000 + i,
			.symbol_offset = 0x10,
			.line = (int)i + 1,
		};
		frames[i] = &places[i];
	}
}

static void feed_process(const struct fact_sink *sink, int i)
{
	const struct fact_ucx ucx = { i, names[i], names[i], names[i], NULL };
	const struct fact_variable variables[] = {
		{ i, "UCX_NET_DEVICES", "<img src=x onerror=alert(1)>" },
		{ i, "UCX_TLS", i % 2 ? "tcp" : "all" },
	};
	const struct fact_process process = {
		.index = i,
		.host = i % 2,
		.host_id = i % 2 ? "boot-1" : "boot-0",
		.host_name = names[i % 2],
		.pid = 100 + (uint32_t)i,
		.tgid = 100 + (uint32_t)i,
		.comm = names[i],
		.exe = names[i],
		.mpi = names[i],
		.job = names[i],
		.rank = i % 3 ? i : -1,
		.size = -1,
		.gpu_library = true,
		.ucx = &ucx,
		.ucx_count = 1,
		.environment = variables,
		.environment_count = i % 3 ? 2 : 1,
		.cpus = i % 2 ? "0-3,8" : NULL,
	};

	fact_put(sink, FACT_PROCESS, &process);
	fact_put(sink, FACT_UCX, &ucx);
	for (int k = 0; k < process.environment_count; k++)
		fact_put(sink, FACT_VARIABLE, &variables[k]);
}

static void feed_call(const struct fact_sink *sink, int i)
{
	static struct stack stacks[NAMES];
	const uint64_t start = 1000000 + 1000 * (uint64_t)i;

	stacks[i] = (struct stack){ names[i], frames, i % 5 + 1, i % 2 ? NULL : "cut short" };
	fact_put(sink, FACT_CALL,
		 &(struct fact_call){ .id = 3 * (uint64_t)i + 1,
				      .process = i,
				      .function = names[i],
				      .place = &places[i],
				      .stack = &stacks[i],
				      .tid = 7,
				      .start = start,
				      .end = i % 4 ? start + 900 : 0,
				      .end_precision = i % 4 ? TIME_LOWER_BOUND : TIME_UNKNOWN,
				      .ops = 1,
				      .bytes = 17 });
}

static void feed_op(const struct fact_sink *sink, int i)
{
	const uint64_t start = 1000100 + 1000 * (uint64_t)i;

	fact_put(sink, FACT_OP,
		 &(struct fact_op){ .id = 3 * (uint64_t)i + 2,
				    .call = 3 * (uint64_t)i + 1,
				    .process = i,
				    .peer = i % 2 ? i - 1 : -1,
				    .op = names[i],
				    .function = names[i],
				    .place = &places[i],
				    .protocol = i % 3 ? names[i] : NULL,
				    .tid = 7,
				    .start = start,
				    .end = start + 700,
				    .end_precision = TIME_EXACT,
				    .tag = UINT64_MAX - (uint64_t)i,
				    .bytes = i % 7 ? 17 : UINT64_MAX,
				    .buffer = 0xffffffffff600000,
				    .memory = i % 2 ? names[i] : NULL,
				    .memory_reason = i % 2 ? NULL : "nobody told",
				    .memory_known_by = i % 2 ? "map" : NULL,
				    .status = i % 11 ? 0 : -3,
				    .sends = true });
}

static struct fact_transfer transfer_of(int i)
{
	const uint64_t start = 1000200 + 1000 * (uint64_t)i;

	return (struct fact_transfer){ .caused_by = i % 5 ? 3 * (uint64_t)i + 2 : 0,
				       .process = i,
				       .peer = i % 4 ? (int)NAMES - 1 - i : -1,
				       .op = i % 2 ? names[i] : "get_zcopy",
				       .transport = names[i],
				       .device = names[i],
				       .locality = i % 4,
				       .kind = i % 3,
				       .ucp_op = names[i],
				       .function = names[i],
				       .place = &places[i],
				       .protocol = names[i],
				       .src_mem = names[i],
				       .src_reason = NULL,
				       .dst_reason = "nobody told",
				       .unexplained = i % 5 ? NULL : "request not seen",
				       .tid = 7,
				       .start = start,
				       .end = start + 100 + (uint64_t)i,
				       .end_precision = TIME_EXACT,
				       .bytes = 16,
				       .wire_bytes = 24,
				       .laddr = 1,
				       .raddr = UINT64_MAX,
				       .fetches = !(i % 2) };
}

static void feed_transfer(const struct fact_sink *sink, int i)
{
	const struct fact_sums sums = { .count = 5,
					.bytes = 5000,
					.wire_bytes = 5040,
					.retries = 2,
					.timed = 3,
					.time = 333,
					.precision = TIME_SAMPLED };
	struct fact_transfer transfer = transfer_of(i);

	fact_put(sink, FACT_TRANSFER, &transfer);
	fact_put_sums(sink, FACT_TRANSFERS, &transfer, &sums);
	transfer.retried = true;
	fact_put(sink, FACT_TRANSFER, &transfer);
}

static void feed_message(const struct fact_sink *sink, int i)
{
	fact_put(sink, FACT_MESSAGE,
		 &(struct fact_message){ .send = 3 * (uint64_t)i + 2,
					 .src = i,
					 .dst = (int)NAMES - 1 - i,
					 .function = names[i],
					 .send_op = names[i],
					 .recv_op = names[i],
					 .tag = UINT64_MAX,
					 .bytes = 17,
					 .src_mem = i % 2 ? "gpu0" : NULL,
					 .src_reason = i % 2 ? NULL : "nobody told",
					 .dst_mem = "host",
					 .chain = i % 2 ? "gpu0,host,host" : NULL,
					 .via = i % 2 ? "cuda_copy,posix" : NULL,
					 .chain_reason = i % 2 ? NULL : "nobody told",
					 .copies = 1,
					 .copy_bytes = 17,
					 .send_start = 1000100 + 1000 * (uint64_t)i,
					 .recv_start = 1000150 + 1000 * (uint64_t)i,
					 .arrival = 1000300 + 1000 * (uint64_t)i,
					 .send_tid = 7,
					 .recv_tid = 7 });
}

static const struct fact_device_user users[] = { { 0, 0, 0, 1 }, { 0, 0, 1, 0 }, { 1, 0, 0, 1 } };
static const struct fact_device devices[] = {
	{ 0, names[0], 0, "0000:01:00.0", names[9], names[3], -1, users, 2 },
	{ 1, names[1], 0, "0000:02:00.0", NULL, names[12], 1, users + 2, 1 },
};

/* One host with a duty cycle, the other one with a budget. */
static void feed_windows(const struct fact_sink *sink)
{
	static const struct {
		const char *step, *reason;
		uint64_t paid_ppm;
	} budget[] = { { "windows", "start", 0 },
		       { "mpi", "under budget", 12000 },
		       { "ucp", "under budget", 15000 },
		       { "uct", "under budget", 21000 },
		       { "mpi", "over budget", 213000 } };

	fact_put(sink, FACT_WINDOW,
		 &(struct fact_window){ .host = 0,
					.host_name = names[0],
					.capture = 0,
					.from = 1000000,
					.to = 2000000,
					.until = 2000000 });
	for (size_t i = 0; i < ARRAY_SIZE(budget); i++)
		fact_put(sink, FACT_WINDOW,
			 &(struct fact_window){ .host = 1,
						.host_name = names[1],
						.capture = 1,
						.from = 1000000 + i * 200000,
						.to = 1100000 + i * 200000,
						.until = 2000000,
						.step = budget[i].step,
						.reason = budget[i].reason,
						.paid_ppm = budget[i].paid_ppm });
}

static void feed_rest(const struct fact_sink *sink)
{
	feed_windows(sink);
	for (int i = 0; i < (int)NAMES; i++)
		fact_put(sink, FACT_MEMORY,
			 &(struct fact_memory){ .process = i,
						.kind = i % 2 ? "gpu" : NULL,
						.sort = "plain",
						.device = i % 2 ? 0 : -1,
						.exporter = i % 4 - 1,
						.function = "cuMemAlloc",
						.reason = i % 2 ? NULL : "why",
						.allocations = 3,
						.bytes = 4096,
						.live_peak = 4096 });
	for (int i = 0; i < 2; i++) {
		fact_put(sink, FACT_DEVICE, &devices[i]);
		for (int k = 0; k < devices[i].user_count; k++)
			fact_put(sink, FACT_DEVICE_USER, &devices[i].users[k]);
	}
}

/* Not every format takes clocks and windows; all take the rest. */
static void feed(struct fact_sink sink)
{
	for (int host = 0; host < 2; host++)
		fact_put(&sink, FACT_CLOCK,
			 &(struct fact_clock){ host, 1000000, 1700000000000000000 });
	for (int i = 0; i < (int)NAMES; i++)
		feed_process(&sink, i);
	for (int i = 0; i < (int)NAMES; i++) {
		feed_call(&sink, i);
		feed_op(&sink, i);
		feed_transfer(&sink, i);
		feed_message(&sink, i);
	}
	feed_rest(&sink);
}

static struct fact_totals made_totals(void)
{
	return (struct fact_totals){
		.produced = 1007,
		.stored = 1000,
		.dropped = { { "ring full", 5 }, { "stack full", 2 } },
		.sends = 29,
		.receives = 22,
		.matched = 22,
		.unmatched_sends = { { "in flight at end", 7 } },
		.data_bytes = 100,
		.to_op_bytes = 90,
		.unexplained_bytes = 10,
		.unexplained = { { "request not seen", 10 } },
		.notes = { { "a, \"note\"; <b>", 1 } },
		.captures = 2,
		.counted = 1,
		.timed_every = 16,
		.devices = devices,
		.device_count = 2,
	};
}

int main(int argc, char **argv)
{
	struct export_request request = { .filter = NULL };
	const struct fact_totals totals = made_totals();
	char why[EXPORT_WHY] = "";
	struct export *export;
	int err = 0;

	request.format = argc == 3 ? export_format_find(argv[1]) : NULL;
	if (!request.format) {
		fprintf(stderr, "usage: madefacts FORMAT OUT\n");
		return 2;
	}
	memset(long_name, 'x', sizeof(long_name) - 1);
	memcpy(long_name, "=\"long", 6);
	make_places();
	request.path = strcmp(argv[2], "-") ? argv[2] : NULL;
	export = export_open(&request, &err, why);
	if (export) {
		feed(export_sink(export));
		err = export_finish(export, &totals, why);
	}
	if (err)
		fprintf(stderr, "madefacts: %s: %s: %s\n", argv[2], strerror(-err), why);
	export_free(export);
	return err ? 1 : 0;
}
