// SPDX-License-Identifier: BSD-3-Clause
/*
 * Queues of a worker that is laid out here as each row of the table has it: what is in them is
 * found, and lists that are broken give a reason and no entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/process/snapshot.h"

#define HASH_SIZE 1021
#define SEND_TAG (1u << 14)
#define COMPLETED 1u
#define PROTO_SEND (1u << 2)

struct queue {
	void *head, *tail;
	uint32_t counts[2];
};

struct element { /* of the pool of requests */
	void *owner;
	unsigned char request[504];
};

static struct {
	unsigned char worker[2048], context[2048], iface[2048], wiface[1024], ep[64];
	char tls[60];
	void *wifaces[1];
	struct queue hash[HASH_SIZE];
	unsigned char receive[2][512];
	uint64_t message[16]; /* ucp_recv_desc_t and its header */
	struct {
		size_t element, alignment;
		unsigned char rest[112];
	} pool;
	struct {
		void *next, *elements;
		uint32_t count;
	} chunk;
	struct element elements[3];
	unsigned char stack[1024];
} scene;

static const struct layout *layout;

static void put(void *object, unsigned int offset, const void *pointer)
{
	memcpy((char *)object + offset, &pointer, sizeof(pointer));
}

static void put_number(void *object, unsigned int offset, uint64_t number)
{
	memcpy((char *)object + offset, &number, sizeof(number));
}

static unsigned char *tm(unsigned int offset)
{
	return scene.worker + layout->worker_tm + offset;
}

static struct queue *wildcards(void)
{
	return (struct queue *)(void *)tm(0);
}

static void empty(struct queue *queue)
{
	queue->head = NULL;
	queue->tail = &queue->head;
}

static void scene_set(const struct layout *row)
{
	memset(&scene, 0, sizeof(scene));
	layout = row;
	put_number(scene.worker, layout->worker_uuid, 0x1234);
	snprintf((char *)scene.worker + layout->worker_address_name, 32, "host:%d", getpid());
	put(scene.worker, layout->worker_context, scene.context);
	put(scene.worker, layout->worker_ifaces, scene.wifaces);
	scene.worker[layout->worker_num_ifaces] = 1;
	put(scene.context, layout->context_tl_rscs, scene.tls);
	scene.context[layout->context_num_tls] = 1;
	strcpy(scene.tls, "posix");
	strcpy(scene.tls + 10, "memory");
	scene.wifaces[0] = scene.wiface;
	put(scene.wiface, 0, scene.iface);
	put(scene.wiface, layout->wiface_worker, scene.worker);
	put(scene.iface, layout->wire.iface_worker, scene.worker);
	put(scene.ep, layout->wire.ep_worker, scene.worker);
	empty(wildcards());
	for (int i = 0; i < HASH_SIZE; i++)
		empty(&scene.hash[i]);
	put(tm(24), 0, scene.hash);
	put_number(tm(32), 0, 17);
	put(tm(48), 0, tm(48));
	put(tm(48), 8, tm(48));
	put(scene.worker, layout->worker_req_mp + 8, &scene.pool);
	scene.pool.element = sizeof(struct element);
	scene.pool.alignment = 64;
	put(&scene.pool, layout->mpool_chunks, &scene.chunk);
	scene.chunk.elements = scene.elements;
	scene.chunk.count = 3;
}

static void post(struct queue *queue, int i, uint64_t tag)
{
	unsigned char *request = scene.receive[i];

	put(request, layout->recv_worker, scene.worker);
	put_number(request, layout->recv_tag, tag);
	put_number(request, layout->recv_tag + 8, 0xff00);
	if (queue->tail == &queue->head)
		queue->head = request + layout->recv_queue;
	else
		put(queue->tail, 0, request + layout->recv_queue);
	queue->tail = request + layout->recv_queue;
}

static void send(unsigned char *request, uint32_t flags)
{
	memcpy(request + layout->wire.req_flags, &flags, sizeof(flags));
	put(request, layout->wire.req_ep, scene.ep);
	put_number(request, layout->wire.req_msg_tag, 0x77);
	put_number(request, layout->wire.req_length, 4096);
}

static json_t *found;
static uint32_t links = SNAPSHOT_LINKS; /* before and after */

static void keep(void *arg, const json_t *record)
{
	(void)arg;
	found = json_deep_copy(record);
}

static json_t *queues(void)
{
	const struct snapshot_stack stack = { (uintptr_t)scene.stack,
					      (uintptr_t)scene.stack + sizeof(scene.stack) };
	struct snapshot snapshot;

	snapshot_init(&snapshot, getpid(), layout, 5000);
	snapshot.links = links;
	snapshot_queues(&snapshot, (uintptr_t)scene.worker, &stack, 1, keep, NULL);
	links = snapshot.links;
	snapshot_release(&snapshot);
	return found;
}

static void expect_sizes(size_t posted, size_t waiting, size_t sends)
{
	json_t *record = queues();

	assert_null(json_object_get(record, "reason"));
	assert_int_equal(json_integer_value(json_object_get(record, "sequence")), 17);
	assert_int_equal(json_array_size(json_object_get(record, "posted")), posted);
	assert_int_equal(json_array_size(json_object_get(record, "waiting")), waiting);
	assert_int_equal(json_array_size(json_object_get(record, "sends")), sends);
	json_decref(record);
}

static void expect_reason(const char *reason)
{
	json_t *record = queues();

	assert_string_equal(json_string_value(json_object_get(record, "reason")), reason);
	assert_null(json_object_get(record, "posted"));
	json_decref(record);
}

static void test_empty(void **state)
{
	(void)state;
	for (unsigned int i = 0; layout_at(i); i++) {
		scene_set(layout_at(i));
		expect_sizes(0, 0, 0);
	}
}

static void test_all_kinds(void **state)
{
	(void)state;
	for (unsigned int i = 0; layout_at(i); i++) {
		json_t *record;

		scene_set(layout_at(i));
		post(&scene.hash[5], 0, 0x123);
		post(&scene.hash[5], 1, 0x456);
		/* announced: RNDV, 1 MiB, by the request 0x9999 */
		scene.message[2] = scene.message[3] = (uintptr_t)tm(48);
		put(tm(48), 0, &scene.message[2]);
		put(tm(48), 8, &scene.message[2]);
		scene.message[5] = 1 << 6;
		scene.message[6] = 0x88;
		scene.message[8] = 0x9999;
		scene.message[10] = 1 << 20;
		for (int k = 0; k < 3; k++)
			send(scene.elements[k].request, SEND_TAG);
		/* in use, in use and done, free */
		scene.elements[0].owner = scene.worker + layout->worker_req_mp;
		scene.elements[1].owner = scene.worker + layout->worker_req_mp;
		send(scene.elements[1].request, SEND_TAG | COMPLETED);
		send(scene.stack + 64, SEND_TAG);
		expect_sizes(2, 1, 2);
		record = queues();
		assert_string_equal(
			json_string_value(json_array_get(
				json_array_get(json_object_get(record, "posted"), 1), 1)),
			"0x456");
		assert_int_equal(json_integer_value(json_array_get(
					 json_array_get(json_object_get(record, "waiting"), 0), 1)),
				 1 << 20);
		assert_string_equal(
			json_string_value(json_array_get(
				json_array_get(json_object_get(record, "waiting"), 0), 2)),
			"0x9999");
		assert_int_equal(json_integer_value(json_array_get(
					 json_array_get(json_object_get(record, "sends"), 0), 3)),
				 4096);
		json_decref(record);
	}
}

static void test_broken(void **state)
{
	(void)state;
	scene_set(layout_at(0));
	post(wildcards(), 0, 1);
	put(scene.receive[0], layout->recv_worker, scene.ep);
	expect_reason("a receive does not point to its worker");
	scene_set(layout_at(0));
	/* its tail is never met */
	post(&scene.hash[0], 0, 1);
	put(scene.receive[0], layout->recv_queue, scene.receive[0] + layout->recv_queue);
	scene.hash[0].tail = scene.stack;
	expect_reason("a queue of receives has no end");
	scene_set(layout_at(0));
	put(tm(48), 8, &scene.message[2]);
	expect_reason("the list of unexpected messages is broken");
	scene_set(layout_at(0));
	scene.chunk.next = &scene.chunk;
	expect_reason("the pool of requests has no end");
	scene_set(layout_at(0));
	scene.pool.alignment = 3;
	expect_reason("no pool of requests there");
	scene_set(layout_at(0));
	put_number(scene.worker, layout->worker_uuid, 0);
	expect_reason("no worker of this process there");
}

/* The row of the only send ends with these: "ID MOVED COPIED". */
static void expect_progress(const char *progress)
{
	json_t *record = queues();
	const json_t *row = json_array_get(json_object_get(record, "sends"), 0);
	const json_t *moved = json_array_get(row, 5);
	char text[64];

	snprintf(text, sizeof(text), "%s %lld %d", json_string_value(json_array_get(row, 4)),
		 json_is_null(moved) ? -1 : (long long)json_integer_value(moved),
		 json_is_true(json_array_get(row, 6)));
	assert_string_equal(text, progress);
	json_decref(record);
}

/* Generation 1: an id as long as an answer must come, a completion function of data that is not
 * copied.
 */
static void test_progress(void **state)
{
	(void)state;
	for (unsigned int i = 0; layout_at(i); i++) {
		unsigned char *request = scene.stack + 64;
		const unsigned int offset = layout_at(i)->wire.req_dt_length - 8;

		scene_set(layout_at(i));
		send(request, SEND_TAG);
		expect_progress("0 0 1");
		/* of a short transfer: anything */
		put_number(request, offset, 1024);
		expect_progress("0 -1 1");
		put_number(request, offset, 4097);
		expect_progress("0 0 1");
		put_number(request, layout->wire.req_length, 1 << 20);
		put_number(request, offset, 1024);
		expect_progress("0 1024 1");
		put_number(request, layout->wire.req_length, 4096);
		put(request, layout->wire.req_uct_comp, scene.stack);
		expect_progress("0 1024 0");
		put_number(request, offset, 4097);
		expect_progress("0 -1 0");
		put_number(request, offset, 0);
		put_number(request, layout->wire.req_id, 0x1235);
		expect_progress("0x1235 -1 0");
	}
}

/* Generation 2: the protocol's name tells. */
static void test_progress_of_protocols(void **state)
{
	static struct {
		void *proto;
		unsigned char rest[64];
	} config;
	static struct {
		const char *name;
	} proto;

	(void)state;
	for (unsigned int i = 0; layout_at(i); i++) {
		unsigned char *request = scene.stack + 64;

		scene_set(layout_at(i));
		send(request, PROTO_SEND);
		config.proto = &proto;
		put(request, layout->wire.req_proto_config, &config);
		put_number(request, layout->wire.req_dt_length, 4096);
		proto.name = "egr/multi/bcopy\0.......";
		expect_progress("0 0 1");
		put_number(request, layout->wire.req_dt_length + 8, 1024);
		expect_progress("0 1024 1");
		proto.name = "egr/multi/zcopy\0.......";
		expect_progress("0 1024 0");
		proto.name = "egrsnc/multi/bcopy\0....";
		expect_progress("0 -1 0");
		proto.name = "tag/rndv\0..............";
		expect_progress("0 -1 0");
		proto.name = NULL;
		expect_progress("0 -1 0");
	}
}

static void expect_waiting(uint64_t flags, uint64_t length, json_int_t bytes, const char *request)
{
	json_t *record, *row;

	scene.message[4] = length;
	scene.message[5] = flags;
	record = queues();
	row = json_array_get(json_array_get(json_object_get(record, "waiting"), 0), 1);
	assert_int_equal(row ? json_integer_value(row) : -1, bytes);
	row = json_array_get(json_array_get(json_object_get(record, "waiting"), 0), 2);
	if (request)
		assert_string_equal(json_string_value(row), request);
	else
		assert_null(row);
	json_decref(record);
}

/* A send that waits for its receive is found by its request, whether it was announced or not. */
static void test_waiting(void **state)
{
	(void)state;
	scene_set(layout_at(0));
	scene.message[2] = scene.message[3] = (uintptr_t)tm(48);
	put(tm(48), 0, &scene.message[2]);
	put(tm(48), 8, &scene.message[2]);
	for (int i = 6; i < 11; i++)
		scene.message[i] = 0x1000 + (uint64_t)i;
	expect_waiting(1 << 1 | 1 << 2, 16, -1, NULL);
	expect_waiting(1 << 1 | 1 << 2 | 1 << 3, 24 + 7, 7, "0x1008");
	expect_waiting(1 << 1 | 1 << 2 | 1 << 3, 23, -1, NULL);
	expect_waiting(1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, 24, -1, NULL);
	expect_waiting(1 << 1 | 1 << 3, 40, 0x1007, "0x100a");
	expect_waiting(1 << 6, 40, 0x100a, "0x1008");
}

/* Words on a stack that look like the endpoint of a request, and what is around them does not. */
static void test_stack_garbage(void **state)
{
	(void)state;
	scene_set(layout_at(0));
	for (size_t i = 0; i < sizeof(scene.stack); i += 8)
		put(scene.stack, (unsigned int)i, scene.ep);
	expect_sizes(0, 0, 0);
}

static void add_chunk_of(void *elements, uint32_t count, size_t size)
{
	scene.pool.element = size;
	scene.pool.alignment = 1;
	scene.chunk.elements = elements;
	scene.chunk.count = count;
}

static unsigned char many[(SNAPSHOT_LINKS + 64) * 280]; /* of the bss */

/* More than there is room for is counted. */
static void test_cut(void **state)
{
	static struct element elements[300];
	json_t *record;

	(void)state;
	links = SNAPSHOT_LINKS;
	scene_set(layout_at(0));
	add_chunk_of(elements, 300, sizeof(*elements));
	for (int i = 0; i < 300; i++) {
		elements[i].owner = scene.worker + layout->worker_req_mp;
		send(elements[i].request, SEND_TAG);
	}
	record = queues();
	assert_null(json_object_get(record, "reason"));
	assert_int_equal(json_array_size(json_object_get(record, "sends")), 256);
	assert_int_equal(json_integer_value(json_object_get(record, "cut")), 44);
	json_decref(record);
}

static void expect_part(const char *reason, size_t posted)
{
	json_t *record = queues();

	assert_string_equal(json_string_value(json_object_get(record, "reason")), reason);
	assert_int_equal(json_array_size(json_object_get(record, "posted")), posted);
	json_decref(record);
}

/* All lists, of all workers of the process, are followed by one number of links. */
static void test_budget(void **state)
{
	(void)state;
	scene_set(layout_at(0));
	post(&scene.hash[5], 0, 0x123);
	post(&scene.hash[6], 1, 0x456);
	/* two receives, a chunk of the pool, three elements */
	links = 6;
	expect_sizes(2, 0, 0);
	assert_int_equal(links, 0);
	expect_part("they have more entries than one inspection follows", 0);
	links = 1;
	expect_part("they have more entries than one inspection follows", 1);
	links = 5;
	expect_part("they have more entries than one inspection follows", 2);
	links = SNAPSHOT_LINKS;
	add_chunk_of(many, 1u << 30, layout->request_size);
	expect_part("they have more entries than one inspection follows", 2);
	assert_int_equal(links, 0);
	links = SNAPSHOT_LINKS;
}

/* Words of the stack are the last that is looked at. */
static void test_stack_is_cut(void **state)
{
	(void)state;
	scene_set(layout_at(0));
	send(scene.stack + 64, SEND_TAG);
	links = 4;
	expect_part("they have more entries than one inspection follows", 0);
	links = SNAPSHOT_LINKS;
	expect_sizes(0, 0, 1);
}

static void test_too_late(void **state)
{
	struct snapshot snapshot;

	(void)state;
	scene_set(layout_at(0));
	snapshot_init(&snapshot, getpid(), layout, 0);
	snapshot_queues(&snapshot, (uintptr_t)scene.worker, NULL, 0, keep, NULL);
	snapshot_release(&snapshot);
	assert_string_equal(json_string_value(json_object_get(found, "reason")), "took too long");
	assert_null(json_object_get(found, "posted"));
	json_decref(found);
}

static void test_unknown_layout(void **state)
{
	struct layout unknown = *layout_at(0);

	(void)state;
	scene_set(layout_at(0));
	unknown.worker_tm = 0;
	layout = &unknown;
	expect_reason("the layout lacks fields of the queues");
}

static size_t fifos;

static void count_fifos(void *arg, const json_t *record)
{
	(void)arg;
	fifos += json_object_get(record, "fifo") != NULL;
}

/* How many interfaces of the scene have a FIFO there. */
static size_t fifos_at(uint64_t base)
{
	const uint32_t mask = 63, stride = 128;
	struct snapshot snapshot;

	put(scene.worker, layout->worker_all_eps, scene.worker + layout->worker_all_eps);
	put(scene.worker, layout->worker_all_eps + 8, scene.worker + layout->worker_all_eps);
	put_number(scene.iface, layout->fifo_elems, base);
	memcpy(scene.iface + layout->fifo_mask, &mask, sizeof(mask));
	memcpy(scene.iface + layout->fifo_elem_size, &stride, sizeof(stride));
	fifos = 0;
	snapshot_init(&snapshot, getpid(), layout, 5000);
	assert_int_equal(snapshot_worker(&snapshot, (uintptr_t)scene.worker, count_fifos, NULL), 0);
	snapshot_release(&snapshot);
	return fifos;
}

static void test_fifo_is_nowhere(void **state)
{
	(void)state;
	for (unsigned int i = 0; layout_at(i); i++) {
		scene_set(layout_at(i));
		if (!layout->fifo_elems)
			continue;
		assert_int_equal(fifos_at((uintptr_t)scene.message), 1);
		assert_int_equal(fifos_at(0), 0);
		assert_int_equal(fifos_at(0xffff888000000000), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_stack_garbage),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_unknown_layout),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_stack_is_cut),
		cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_progress_of_protocols),
		cmocka_unit_test(test_fifo_is_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
