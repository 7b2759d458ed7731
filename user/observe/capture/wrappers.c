// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/wrappers.h"

#include <string.h>

#include "observe/process/reader.h"
#include "observe/process/unwind.h"

#define MOST 4 /* wrappers of a function */

/*
 * As in the sources of 1.13.1, 1.18.1 and 1.22 (src/ucp/tag/tag_send.c, rma/rma_send.c and so on);
 * those behind others call these. The blocking atomics end with a jump, and have no frame.
 */
static const struct {
	const char *symbol, *wrappers[MOST];
} table[] = {
	{ "ucp_tag_send_nbx", { "ucp_tag_send_nb", "ucp_tag_send_nbr" } },
	{ "ucp_tag_send_sync_nbx", { "ucp_tag_send_sync_nb" } },
	{ "ucp_tag_recv_nbx", { "ucp_tag_recv_nb", "ucp_tag_recv_nbr" } },
	{ "ucp_tag_msg_recv_nbx", { "ucp_tag_msg_recv_nb" } },
	{ "ucp_am_send_nbx", { "ucp_am_send_nb" } },
	{ "ucp_am_recv_data_nbx", { "ucp_am_recv_data_nb" } },
	{ "ucp_stream_send_nbx", { "ucp_stream_send_nb" } },
	{ "ucp_stream_recv_nbx", { "ucp_stream_recv_nb" } },
	{ "ucp_put_nbx", { "ucp_put_nb", "ucp_put_nbi", "ucp_put" } },
	{ "ucp_get_nbx", { "ucp_get_nb", "ucp_get_nbi", "ucp_get" } },
	{ "ucp_atomic_op_nbx", { "ucp_atomic_post", "ucp_atomic_fetch_nb" } },
	{ "ucp_ep_flush_nbx", { "ucp_ep_flush_nb" } },
	{ "ucp_worker_flush_nbx", { "ucp_worker_flush_nb" } },
	{ "ucp_ep_close_nbx", { "ucp_ep_close_nb", "ucp_disconnect_nb" } },
};

#define CALL_BYTES 5 /* of the shortest call instruction, as a linker leaves them */
#define WORD 8
#define FUNCTION_MAX 65536 /* bytes of a wrapper */
#define UP_MAX 65536 /* bytes of its frame */

/* Code from pc up to end has that rule. */
static bool may_call(uint64_t pc, uint64_t end, uint32_t rule)
{
	return end - pc >= CALL_BYTES && UB_ROW_BP(rule) < UB_ROW_STOP &&
	       UB_ROW_MODE(rule) == UB_ROW_RSP && UB_ROW_CFA(rule) > WORD;
}

/* ---- in a reader ---- */

struct wrapper_search {
	struct ub_wrappers wrappers;
	unsigned int count;
	struct elf *elf;
	struct unwind *unwind;
	uint64_t function; /* link-time address of the site's */
};

static bool function_at(const struct elf *elf, const char *name, uint64_t *vaddr, uint64_t *size)
{
	uint64_t offset;

	return !elf_function(elf, name, &offset, size) && !elf_offset_to_vaddr(elf, offset, vaddr);
}

static void add_row(struct ub_wrappers *wrappers, unsigned int i, struct ub_wrapper row)
{
	wrappers->row[i] = row;
	if (!i || row.from < wrappers->from)
		wrappers->from = row.from;
	if (!i || row.to > wrappers->to)
		wrappers->to = row.to;
}

static void add(struct wrapper_search *search, const char *name)
{
	uint64_t size, pc, from, end;

	if (!function_at(search->elf, name, &from, &size) || size > FUNCTION_MAX)
		return;
	for (pc = from, end = from + size; pc < end; pc = from) {
		uint32_t rule = unwind_rule(search->unwind, pc);

		for (from = pc + 1; from < end && unwind_rule(search->unwind, from) == rule;)
			from++;
		if (!may_call(pc, from, rule))
			continue;
		if (search->count == UB_WRAPPER_ROWS)
			return;
		add_row(&search->wrappers, search->count++,
			(struct ub_wrapper){ (int32_t)(pc - search->function),
					     (int32_t)(from - search->function),
					     (uint32_t)UB_ROW_CFA(rule) });
	}
}

static long find_wrappers(struct elf *elf, const void *arguments, size_t size,
			  reader_answer *answer)
{
	struct wrapper_search search = { .elf = elf };
	int err = unwind_open(&search.unwind, elf);

	(void)arguments;
	for (uint32_t i = 0; !err && i < ARRAY_SIZE(table); i++) {
		memset(&search.wrappers, 0, sizeof(search.wrappers));
		search.count = 0;
		if (!function_at(elf, table[i].symbol, &search.function, &size))
			continue;
		for (int k = 0; k < MOST && table[i].wrappers[k]; k++)
			add(&search, table[i].wrappers[k]);
		if (!search.count)
			continue;
		answer_add(answer, &i, sizeof(i));
		answer_add(answer, &search.wrappers, sizeof(search.wrappers));
	}
	unwind_close(search.unwind);
	return err;
}

/* ---- who asks ---- */

static bool is_sound(const struct ub_wrappers *wrappers)
{
	for (int i = 0; i < UB_WRAPPER_ROWS; i++)
		if (wrappers->row[i].up > UP_MAX || wrappers->row[i].up % WORD)
			return false;
	return true;
}

static bool take_wrappers(const reader_answer *answer, wrapped_functions *list)
{
	struct wrapped_function *function;
	size_t at = 0;
	uint32_t i;

	while (answer_take(answer, &at, &i, sizeof(i))) {
		if (i >= ARRAY_SIZE(table) || list->len == ARRAY_SIZE(table))
			return false;
		function = vec_add(list);
		function->symbol = table[i].symbol;
		if (!answer_take(answer, &at, &function->wrappers, sizeof(function->wrappers)) ||
		    !is_sound(&function->wrappers))
			return false;
	}
	return at == answer->len;
}

int wrappers_list(const struct elf *elf, wrapped_functions *list)
{
	reader_answer answer = { 0 };
	long err = elf_ask(elf, find_wrappers, NULL, 0, &answer);

	if (!err && !take_wrappers(&answer, list))
		err = elf_refuse(elf);
	vec_release(&answer);
	if (err)
		list->len = 0;
	return (int)err;
}
