// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/kernel_spans.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "ucxbpf.skel.h"

/* Which end of which span a program is, by name: "op_session", "op_entry", "call_entry"... */
static const struct {
	const char *name;
	enum ub_kind kind;
} spans[] = {
	{ "op", UB_OP },
	{ "xfer", UB_XFER },
	{ "object", UB_OBJ },
	{ "exact", UB_CALL },
};

static int span_of(const char *program)
{
	size_t n = strcspn(program, "_");

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		if (strlen(spans[i].name) == n && !strncmp(spans[i].name, program, n) &&
		    strcmp(program, "object_end") != 0 && strcmp(program, "op_call") != 0)
			return i;
	return -1;
}

/* Sleepable uprobes came with 6.0, before the multi links. */
static const char *rx_program(enum link_mechanism mechanism)
{
	return mechanism == LINK_PERF ? "rx_entry" : "rx_sleepable";
}

void kernel_spans_choose(struct ucxbpf *skel, const struct kernel_options *options)
{
	enum link_mechanism mechanism = options->mechanism;
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *name = bpf_program__name(prog);
		bool session = strstr(name, "_session");

		if (bpf_program__type(prog) != BPF_PROG_TYPE_KPROBE)
			continue;
		if (span_of(name) >= 0)
			bpf_program__set_autoload(prog, session == (mechanism == LINK_SESSION));
		if (!strncmp(name, "rx_", 3))
			bpf_program__set_autoload(prog, !strcmp(name, rx_program(mechanism)));
		if (!strncmp(name, "exact_", 6) && !options->call_ends)
			bpf_program__set_autoload(prog, false);
		bpf_program__set_expected_attach_type(prog, links_attach_type(mechanism, session));
	}
}

void kernel_spans_programs(const struct ucxbpf *skel, struct link_programs *programs)
{
	struct bpf_program *prog;

	memset(programs, -1, sizeof(*programs));
	programs->entry_fd[UB_CALL] = bpf_program__fd(skel->progs.call_entry);
	programs->entry_fd[UB_OP] = bpf_program__fd(skel->progs.op_call);
	programs->entry_fd[UB_MATCH] = bpf_program__fd(skel->progs.match_entry);
	programs->entry_fd[UB_COMP] = bpf_program__fd(skel->progs.comp_entry);
	programs->entry_fd[UB_OBJ] = bpf_program__fd(skel->progs.object_end);
	programs->entry_fd[UB_MEM] = bpf_program__fd(skel->progs.memory_entry);
	programs->exit_fd[UB_MEM] = bpf_program__fd(skel->progs.memory_exit);
	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *name = bpf_program__name(prog);
		int i = span_of(name), fd = bpf_program__fd(prog);

		if (!strncmp(name, "rx_", 3) && fd >= 0)
			programs->entry_fd[UB_RX] = fd;
		if (i < 0 || fd < 0)
			continue;
		if (strstr(name, "_session"))
			programs->session_fd[spans[i].kind] = fd;
		else if (strstr(name, "_entry"))
			programs->span_entry_fd[spans[i].kind] = fd;
		else
			programs->return_fd[spans[i].kind] = fd;
	}
}
