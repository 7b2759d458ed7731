// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/kernel_count.h"

#include <string.h>

#include "ucxbpf.skel.h"

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Objects are recorded as ever. */
static bool is_wanted(const char *name, bool session)
{
	const char *ends[] = { "_session", "_entry", "_return" };

	if (begins(name, "object_end") || !strcmp(name, "count_call") ||
	    !strcmp(name, "count_op_only"))
		return true;
	if (!begins(name, "object_") && !begins(name, "count_"))
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strstr(name, ends[i]))
			return session == (i == 0);
	return false;
}

void kernel_count_choose(struct ucxbpf *skel, enum link_mechanism mechanism, bool count)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
	{
		if (count && bpf_program__type(prog) == BPF_PROG_TYPE_KPROBE)
			bpf_program__set_autoload(prog, is_wanted(bpf_program__name(prog),
								  mechanism == LINK_SESSION));
	}
}

void kernel_count_programs(struct ucxbpf *skel, struct link_programs *programs)
{
	programs->entry_fd[UB_CALL] = bpf_program__fd(skel->progs.count_call);
	programs->entry_fd[UB_OP] = bpf_program__fd(skel->progs.count_op_only);
	programs->session_fd[UB_OP] = bpf_program__fd(skel->progs.count_op_session);
	programs->span_entry_fd[UB_OP] = bpf_program__fd(skel->progs.count_op_entry);
	programs->return_fd[UB_OP] = bpf_program__fd(skel->progs.count_op_return);
	programs->session_fd[UB_XFER] = bpf_program__fd(skel->progs.count_xfer_session);
	programs->span_entry_fd[UB_XFER] = bpf_program__fd(skel->progs.count_xfer_entry);
	programs->return_fd[UB_XFER] = bpf_program__fd(skel->progs.count_xfer_return);
}
