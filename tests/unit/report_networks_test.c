// SPDX-License-Identifier: BSD-3-Clause
/* What went between hosts: by NIC, by way; the far NIC only where it can be but one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "show/report/report.h"

static const char tcp[] = "tcp", rc[] = "rc_mlx5", eth0[] = "eth0", eth1[] = "eth1",
		  mlx[] = "mlx5_0:1";
static const char put[] = "put_zcopy", get[] = "get_zcopy", host[] = "host", gpu0[] = "gpu0",
		  lo[] = "lo";

/* Process 0 on host a has two NICs for tcp, 1 on b has one and lo; both have one for rc. */
static const struct open_device opened[] = {
	{ 0, rc, mlx }, { 0, tcp, eth0 }, { 0, tcp, eth1 },
	{ 1, rc, mlx }, { 1, tcp, eth0 }, { 1, tcp, lo },
};

static void move(const struct fact_sink *sink, int process, const char *op, const char *transport,
		 const char *device, uint64_t bytes, enum fact_kind kind)
{
	const struct fact_transfer transfer = {
		.process = process,
		.peer = 1 - process,
		.op = op,
		.transport = transport,
		.device = device,
		.locality = LOCALITY_REMOTE,
		.kind = kind,
		.src_mem = op == get ? gpu0 : host,
		.dst_mem = host,
		.start = 1000,
		.bytes = bytes,
		.wire_bytes = bytes + 8,
	};

	fact_put(sink, FACT_TRANSFER, &transfer);
}

static json_t *report_of(void)
{
	struct report *report = report_new(NULL);
	struct fact_sink sink = report_sink(report);
	const struct fact_totals totals = { .open_devices = opened, .open_device_count = 6 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *json;

	for (int i = 0; i < 2; i++)
		fact_put(&sink, FACT_PROCESS,
			 &(struct fact_process){ .index = i,
						 .host = i,
						 .host_id = i ? "id-b" : "id-a",
						 .host_name = i ? "b" : "a",
						 .rank = i,
						 .environment_cut = -1 });
	move(&sink, 0, put, tcp, eth0, 1009, KIND_DATA);
	move(&sink, 0, put, tcp, eth1, 2003, KIND_DATA);
	move(&sink, 1, put, tcp, eth0, 4001, KIND_DATA);
	move(&sink, 1, get, rc, mlx, 8009, KIND_DATA);
	move(&sink, 0, put, tcp, eth0, 16001, KIND_CONTROL);
	report_finish(report, &totals);
	assert_int_equal(report_json(report, out), 0);
	fclose(out);
	report_free(report);
	json = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(json);
	return json;
}

/* Bytes of the row that has these words; keys and words in turn, NULL behind. */
static json_int_t bytes_of(const json_t *rows, ...)
{
	json_int_t bytes = 0;
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		bool fits = true;
		const char *key;
		va_list words;

		va_start(words, rows);
		while ((key = va_arg(words, const char *))) {
			const char *word = va_arg(words, const char *);
			const json_t *value = json_object_get(row, key);
			char number[24];

			snprintf(number, sizeof(number), "%lld",
				 (long long)json_integer_value(value));
			fits = fits &&
			       !strcmp(json_is_integer(value) ? number : json_string_value(value),
				       word);
		}
		va_end(words);
		if (fits)
			bytes += json_integer_value(json_object_get(row, "bytes"));
	}
	return bytes;
}

static void nics(void **state)
{
	json_t *report = report_of();
	const json_t *rows = json_object_get(report, "nics");

	(void)state;
	assert_int_equal(bytes_of(rows, "host", "0", "device", "eth0", "direction", "out", NULL),
			 1009);
	assert_int_equal(bytes_of(rows, "host", "0", "device", "eth1", "direction", "out", NULL),
			 2003);
	assert_int_equal(bytes_of(rows, "host", "1", "device", "eth0", "direction", "in", NULL),
			 3012);
	assert_int_equal(bytes_of(rows, "host", "1", "device", "eth0", "direction", "out", NULL),
			 4001);
	/* either of two */
	assert_int_equal(bytes_of(rows, "host", "0", "device", "unknown", "direction", "in", NULL),
			 4001);
	/* fetched by b, out of a's only NIC for it */
	assert_int_equal(bytes_of(rows, "host", "1", "device", mlx, "direction", "in", NULL), 8009);
	assert_int_equal(bytes_of(rows, "host", "0", "device", mlx, "direction", "out", NULL),
			 8009);
	assert_int_equal(json_array_size(rows), 7);
	json_decref(report);
}

static void routes(void **state)
{
	json_t *report = report_of();
	const json_t *rows = json_object_get(report, "routes");

	(void)state;
	assert_int_equal(bytes_of(rows, "src_host", "0", "src_nic", eth1, "dst_nic", eth0,
				  "dst_host", "1", NULL),
			 2003);
	assert_int_equal(bytes_of(rows, "src_host", "1", "src_nic", eth0, "dst_nic", "unknown",
				  "dst_host", "0", NULL),
			 4001);
	assert_int_equal(bytes_of(rows, "src_host", "0", "src_mem", gpu0, "src_nic", mlx, "dst_nic",
				  mlx, "dst_host", "1", "dst_mem", host, NULL),
			 8009);
	assert_int_equal(json_array_size(rows), 4);
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nics),
		cmocka_unit_test(routes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
