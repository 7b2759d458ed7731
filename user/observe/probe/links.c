// SPDX-License-Identifier: BSD-3-Clause
#include "observe/probe/links.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "observe/probe/keeper.h"

/* Probes of one file that share their programs. */
struct batch {
	const char *path;
	int entry_fd, return_fd; /* return_fd -1: the entry program is all, or serves both ends */
	int entry_type;
	unsigned int kind;
	VEC(uint64_t) offsets;
	VEC(uint64_t) cookies;
	size_t refused;
};

const char *link_mechanism_name(enum link_mechanism mechanism)
{
	static const char *const names[] = { "none", "perf", "multi", "session" };

	return names[mechanism];
}

int links_attach_type(enum link_mechanism mechanism, bool session)
{
	switch (mechanism) {
	case LINK_SESSION:
		return session ? ATTACH_UPROBE_SESSION : ATTACH_UPROBE_MULTI;
	case LINK_MULTI:
		return ATTACH_UPROBE_MULTI;
	default:
		return 0;
	}
}

void links_init(struct links *links, enum link_mechanism mechanism,
		const struct link_programs *programs)
{
	*links = (struct links){ .mechanism = mechanism, .programs = programs };
	keeper_start();
}

uint64_t links_settle(struct links *links)
{
	uint64_t took = keeper_close_wait(links->closing);

	links->closing = NULL;
	return took;
}

void links_detach(struct links *links)
{
	links_settle(links);
	for (size_t i = 0; i < links->call_returns.len; i++)
		vec_push(&links->fds, links->call_returns.data[i]);
	links->call_returns.len = 0;
	links->closing = keeper_close_begin(links->fds.data, links->fds.len);
	links->fds.len = 0;
}

void links_release(struct links *links)
{
	links_detach(links);
	links_settle(links);
	vec_release(&links->fds);
	vec_release(&links->call_returns);
}

size_t links_drop_call_returns(struct links *links)
{
	size_t count = links->call_returns.len;

	keeper_close_wait(keeper_close_begin(links->call_returns.data, count));
	vec_release(&links->call_returns);
	return count;
}

/* Errors that another offset would meet as well. */
static bool is_fatal(int err)
{
	static const int fatal[] = { EPERM, EACCES, ENOMEM, EMFILE, ENFILE, EBADF, ENOENT, ENOSYS };

	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		if (err == -fatal[i])
			return true;
	return false;
}

static int create(const struct links *links, int prog_fd, int type, bool at_return,
		  const struct link_target *target)
{
	return keeper_place(links->mechanism == LINK_PERF, prog_fd, type, at_return, target);
}

/*
 * Both ends or none. Returns first: a return without its entry is ignored, an entry without its
 * return would look lost.
 */
static int create_ends(struct links *links, const struct batch *batch,
		       const struct link_target *target)
{
	int at_return = -1, entry;

	if (batch->return_fd >= 0) {
		at_return = create(links, batch->return_fd,
				   links_attach_type(links->mechanism, false), true, target);
		if (at_return < 0)
			return at_return;
	}
	entry = create(links, batch->entry_fd, batch->entry_type, false, target);
	if (entry < 0) {
		if (at_return >= 0)
			close(at_return);
		return entry;
	}
	vec_push(&links->fds, entry);
	if (at_return >= 0 && batch->kind == UB_CALL)
		vec_push(&links->call_returns, at_return);
	else if (at_return >= 0)
		vec_push(&links->fds, at_return);
	return 0;
}

/* Halves what the kernel refuses until the culprits are alone. */
static int attach_range(struct links *links, struct batch *batch, size_t first, size_t n)
{
	struct link_target target = { batch->path, batch->offsets.data + first,
				      batch->cookies.data + first, n };
	int err = n ? create_ends(links, batch, &target) : 0;

	if (!err || is_fatal(err))
		return err;
	if (n == 1) {
		batch->refused++;
		log_info("%s: probe at offset %#lx refused: error %d", batch->path,
			 (unsigned long)target.offsets[0], -err);
		return 0;
	}
	err = attach_range(links, batch, first, n / 2);
	return err ? err : attach_range(links, batch, first + n / 2, n - n / 2);
}

/* What a probe stands for, in the order in which they are placed: no entry waits for its exits. */
enum link_end { END_EXIT, END_ENTRY, END_SPAN, ENDS };

static enum link_end end_of(const struct link_probe *probe)
{
	return probe->at_exit ? END_EXIT : probe->needs_return ? END_SPAN : END_ENTRY;
}

static struct batch batch_for(const struct links *links, const char *path, unsigned int kind,
			      enum link_end end)
{
	const struct link_programs *programs = links->programs;
	bool span = end == END_SPAN, session = span && links->mechanism == LINK_SESSION;
	struct batch batch = { .path = path, .kind = kind, .return_fd = -1 };

	batch.entry_type = links_attach_type(links->mechanism, session);
	batch.entry_fd = session           ? programs->session_fd[kind]
			 : span            ? programs->span_entry_fd[kind]
			 : end == END_EXIT ? programs->exit_fd[kind]
					   : programs->entry_fd[kind];
	if (span && !session)
		batch.return_fd = programs->return_fd[kind];
	return batch;
}

static int attach_batch(struct links *links, struct batch *batch, enum link_end end,
			const struct link_probe *probes, size_t n, unsigned int kind)
{
	for (size_t i = 0; i < n; i++) {
		if (probes[i].kind != kind || end_of(&probes[i]) != end)
			continue;
		vec_push(&batch->offsets, probes[i].offset);
		vec_push(&batch->cookies, probes[i].cookie);
	}
	if (batch->offsets.len &&
	    (batch->entry_fd < 0 ||
	     (end == END_SPAN && links->mechanism != LINK_SESSION && batch->return_fd < 0)))
		return -EBADF;
	return attach_range(links, batch, 0, batch->offsets.len);
}

int links_attach(struct links *links, const char *path, const struct link_probe *probes, size_t n,
		 size_t *refused)
{
	int err = 0;

	*refused = 0;
	for (unsigned int i = 0; !err && i < ENDS * UB_KIND_MAX; i++) {
		unsigned int kind = i / ENDS;
		enum link_end end = i % ENDS;
		struct batch batch = batch_for(links, path, kind, end);

		err = attach_batch(links, &batch, end, probes, n, kind);
		*refused += batch.refused;
		vec_release(&batch.offsets);
		vec_release(&batch.cookies);
	}
	return err;
}
