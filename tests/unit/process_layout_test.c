/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts: the table's rows, and offsets read from debug information. */
#include "unit/process_stock.h"

#include "observe/process/layout.h"

/* Like UCX's, only smaller, with its unnamed unions: this program's own debug information. */
struct uct_completion_like {
	void *func;
	int count;
};
typedef struct ucp_request {
	unsigned char status;
	unsigned int flags;
	void *id;
	union {
		void *user_data;
		struct ucp_request *super_req;
	};
	union {
		struct {
			void *ep;
			union {
				void *buffer;
				char room[8];
			};
			struct {
				struct {
					unsigned long dt_class, length;
				} dt_iter;
				struct uct_completion_like uct_comp;
			} state;
			union {
				struct {
					unsigned long message_id, tag;
				} msg_proto;
			};
		} send;
		struct {
			struct {
				unsigned long length;
			} dt_iter;
			struct {
				unsigned long info[2];
			} tag;
		} recv;
	};
} ucp_request_t;
struct ucp_ep {
	void *worker;
	unsigned char cfg_index;
	unsigned int flags;
	void *uct_eps[3];
	struct ucp_ep_ext *ext;
};
struct uct_base_iface {
	char ops[400];
	void *err_handler_arg;
};

static volatile struct ucp_request kept_request;
static volatile struct ucp_ep kept_ep;
static volatile struct uct_base_iface kept_iface;

static void test_rows_are_found(void **state)
{
	const struct layout *layout;
	unsigned int i;

	(void)state;
	for (i = 0; (layout = layout_at(i)); i++) {
		assert_ptr_equal(
			layout_find(layout->version, layout->request_size, layout->asserts),
			layout);
		assert_int_equal(layout->wire.req_size, layout->request_size);
		assert_int_equal(layout->wire.worker_uuid, layout->worker_uuid);
		assert_true(layout_is_row(layout));
	}
	assert_int_equal(i, 20);
}

static void test_only_known_builds(void **state)
{
	const unsigned int known[3] = { 1, 13, 1 }, equal[3] = { 1, 13, 0 }, next[3] = { 1, 13, 2 },
			   unknown[3] = { 0, 0, 0 };

	(void)state;
	assert_non_null(layout_find(known, 264, UCX_ASSERTS_UNKNOWN));
	assert_null(layout_find(known, 280, UCX_ASSERTS_UNKNOWN));
	assert_null(layout_find(known, 0, UCX_ASSERTS_UNKNOWN));
	assert_string_equal(layout_find(equal, 272, UCX_ASSERTS_UNKNOWN)->name, "1.13.1-assert");
	assert_null(layout_find(next, 272, UCX_ASSERTS_UNKNOWN));
	assert_null(layout_find(unknown, 272, UCX_ASSERTS_UNKNOWN));
}

/* Assert and release builds of 1.22 have requests of one size. */
static void test_builds_told_by_code(void **state)
{
	const unsigned int version[3] = { 1, 22, 0 };

	(void)state;
	assert_string_equal(layout_find(version, 280, UCX_ASSERTS_IN)->name, "1.22.0-assert");
	assert_string_equal(layout_find(version, 280, UCX_ASSERTS_OUT)->name, "1.22.0-release");
	assert_null(layout_find(version, 280, UCX_ASSERTS_UNKNOWN));
	assert_null(layout_find(version, 272, UCX_ASSERTS_OUT));
}

/* No version and build may have two rows. */
static void test_rows_differ(void **state)
{
	const struct layout *a, *b;

	(void)state;
	for (unsigned int i = 0; (a = layout_at(i)); i++)
		for (unsigned int j = 0; j < i && (b = layout_at(j)); j++)
			assert_true(memcmp(a->version, b->version, sizeof(a->version)) ||
				    a->request_size != b->request_size ||
				    (a->asserts && b->asserts && a->asserts != b->asserts));
}

static void test_debug_information(void **state)
{
	const unsigned int version[3] = { 1, 99, 0 };
	const struct layout *layout;
	struct elf *elf;

	(void)state;
	kept_request.flags = kept_ep.flags = (unsigned int)kept_iface.ops[0];
	assert_int_equal(elf_load(&elf, "/proc/self/exe"), 0);
	layout = layout_from_dwarf(elf, version);
	elf_free(elf);
	if (!layout) {
		print_message("built without -g\n");
		skip();
	}
	assert_int_equal(layout->version[1], 99);
	assert_false(layout_is_row(layout));
	assert_int_equal(layout->request_size, sizeof(struct ucp_request));
	assert_int_equal(layout->wire.req_flags, offsetof(struct ucp_request, flags));
	assert_int_equal(layout->wire.req_super, offsetof(struct ucp_request, super_req));
	assert_int_equal(layout->wire.req_uct_comp,
			 offsetof(struct ucp_request, send.state.uct_comp));
	assert_int_equal(layout->wire.req_dt_length,
			 offsetof(struct ucp_request, send.state.dt_iter.length));
	assert_int_equal(layout->wire.req_msg_tag,
			 offsetof(struct ucp_request, send.msg_proto.tag));
	assert_int_equal(layout->wire.req_recv_length,
			 offsetof(struct ucp_request, recv.dt_iter.length));
	assert_int_equal(layout->wire.req_length, UB_OFF_UNKNOWN);
	assert_int_equal(layout->wire.iface_worker,
			 offsetof(struct uct_base_iface, err_handler_arg));
	assert_int_equal(layout->ep_uct_eps, offsetof(struct ucp_ep, uct_eps));
	assert_int_equal(layout->ep_uct_eps_max, 3);
	assert_int_equal(layout->ep_ext, offsetof(struct ucp_ep, ext));
	assert_int_equal(layout->worker_uuid, UB_OFF_UNKNOWN);
	layout_dwarf_free(layout);
}

static void test_no_debug_information(void **state)
{
	const unsigned int version[3] = { 1, 13, 1 };
	struct elf *elf = stock_open("libucs.so.0");

	(void)state;
	assert_null(layout_from_dwarf(elf, version));
	elf_free(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_found),
		cmocka_unit_test(test_only_known_builds),
		cmocka_unit_test(test_builds_told_by_code),
		cmocka_unit_test(test_rows_differ),
		cmocka_unit_test(test_debug_information),
		cmocka_unit_test(test_no_debug_information),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
