/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes of an endpoint that are not wired up yet: behind a proxy, laid out here as each row has it,
 * lies the endpoint that will carry them (ucp_proxy_ep_t, src/ucp/core/ucp_proxy_ep.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/process/snapshot_private.h"

#define UCT_IFACE 400 /* sizeof(uct_iface_t): a proxy that holds its stub goes on behind it */

struct scene {
	uint64_t ep[32], ext[64], proxy[64], carrier[64], iface[4], stub[4], other_ep[4];
	const struct layout *layout;
};

static uint64_t at(const void *object)
{
	return (uintptr_t)object;
}

static void put(void *object, unsigned int offset, const void *pointer)
{
	*(uint64_t *)((char *)object + offset) = at(pointer);
}

/* The proxy in lane 0, in front of the carrier. */
static void scene_set(struct scene *scene, const struct layout *layout)
{
	bool holds = layout->proxy_ucp_ep >= UCT_IFACE;

	memset(scene, 0, sizeof(*scene));
	scene->layout = layout;
	put(scene->ep, layout->ep_uct_eps, scene->proxy);
	put(scene->proxy, 0, holds ? &scene->proxy[1] : scene->stub);
	put(scene->proxy, 8, holds ? NULL : scene->stub);
	put(scene->proxy, layout->proxy_ucp_ep, scene->ep);
	put(scene->proxy, layout->proxy_uct_ep, scene->carrier);
	put(scene->carrier, 0, scene->iface);
}

/* How many lanes are found; those found must be the carrier. all: whether they are all. */
static size_t lanes_of(const struct scene *scene, bool all)
{
	struct snap_worker worker = { 0 };
	struct snapshot snapshot;
	struct snap_walk walk = { &snapshot, &worker, 1, json_array(), { 0 } };
	json_t *lanes = json_array(), *lane;
	struct snap_iface iface = { .address = at(scene->iface), .tl = "tcp" };
	size_t i, count;
	bool proved;

	snapshot_init(&snapshot, getpid(), scene->layout, 1000);
	vec_push(&worker.ifaces, iface);
	*map_insert(&worker.iface_index, iface.address, 0, NULL) = worker.ifaces.len;
	assert_int_equal(snap_lanes(&walk, at(scene->ep), at(scene->ext), lanes, &proved), 0);
	assert_int_equal(proved, all);
	json_array_foreach(lanes, i, lane)
		assert_int_equal(strtoull(json_string_value(lane), NULL, 16), at(scene->carrier));
	count = json_array_size(lanes);
	assert_int_equal(json_array_size(walk.records), count);
	json_decref(lanes);
	json_decref(walk.records);
	map_release(&walk.seen);
	snap_worker_release(&worker);
	snapshot_release(&snapshot);
	return count;
}

static void test_behind_a_proxy(void **state)
{
	const struct layout *layout;
	struct scene scene;

	(void)state;
	for (unsigned int i = 0; (layout = layout_at(i)); i++) {
		scene_set(&scene, layout);
		assert_int_equal(lanes_of(&scene, true), 1);
		put(scene.proxy, layout->proxy_uct_ep, NULL);
		assert_int_equal(lanes_of(&scene, false), 0);
	}
}

static void test_without_a_proxy(void **state)
{
	const struct layout *layout;
	struct scene scene;

	(void)state;
	for (unsigned int i = 0; (layout = layout_at(i)); i++) {
		scene_set(&scene, layout);
		put(scene.ep, layout->ep_uct_eps, scene.carrier);
		assert_int_equal(lanes_of(&scene, true), 1);
		/* an interface that is not the worker's, and what only looks like a proxy's */
		put(scene.carrier, 0, scene.stub);
		put(scene.carrier, 8, scene.stub);
		assert_int_equal(lanes_of(&scene, false), 0);
	}
}

/* Where the stub is not in it, a proxy is one of this endpoint only. */
static void test_of_another_endpoint(void **state)
{
	const struct layout *layout;
	struct scene scene;

	(void)state;
	for (unsigned int i = 0; (layout = layout_at(i)); i++) {
		if (layout->proxy_ucp_ep >= UCT_IFACE)
			continue;
		scene_set(&scene, layout);
		put(scene.proxy, layout->proxy_ucp_ep, scene.other_ep);
		assert_int_equal(lanes_of(&scene, false), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_behind_a_proxy),
		cmocka_unit_test(test_without_a_proxy),
		cmocka_unit_test(test_of_another_endpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
