// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/completions.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/log.h"
#include "observe/process/proc.h"

void completions_release(struct completions *completions)
{
	map_release(&completions->seen);
	map_release(&completions->counts);
	map_release(&completions->shared);
	vec_release(&completions->pending);
}

#define FUNCTIONS_MOST 256 /* completion functions of one process: each costs a probe */

static void notice(struct completions *completions, const struct ub_hdr *h, uint64_t address,
		   enum ub_comp_what what)
{
	if (!address || map_find(&completions->seen, h->tgid, address) ||
	    ++*map_insert(&completions->counts, h->tgid, 0, NULL) > FUNCTIONS_MOST)
		return;
	map_insert(&completions->seen, h->tgid, address, NULL);
	vec_push(&completions->pending, ((struct learnt){ h->tgid, address, what, h->layout }));
}

/* ucp_tag_recv_nbx_callback_t has the sender's tag and length; all others are (request, status). */
static enum ub_comp_what callback_of(const struct ub_op *op)
{
	return site_row(op->h.site)->wire.what == UB_OP_TAG_RECV ? UB_COMP_RECV_CB
								 : UB_COMP_SEND_CB;
}

void completions_record(struct completions *completions, const struct ub_hdr *record)
{
	if (!record->layout) /* without a layout a request cannot be matched to its completion */
		return;
	if (record->kind == UB_OP) {
		const struct ub_op *op = (const struct ub_op *)record;

		if (op->cb)
			notice(completions, record, op->cb, callback_of(op));
	} else if (record->kind == UB_XFER) {
		const struct ub_xfer *xfer = (const struct ub_xfer *)record;

		if (xfer->comp_func && xfer->req)
			notice(completions, record, xfer->comp_func, UB_COMP_UCT);
	}
}

void completions_learn_again(struct completions *completions, pid_t tgid)
{
	size_t kept = 0;

	for (size_t i = 0; i < completions->pending.len; i++)
		if (completions->pending.data[i].tgid != tgid)
			completions->pending.data[kept++] = completions->pending.data[i];
	completions->pending.len = kept;
	map_remove_all(&completions->seen, tgid);
	map_remove_all(&completions->counts, tgid);
}

void completions_forget(struct completions *completions, struct probes *probes, pid_t tgid)
{
	probes_forget_process(probes, tgid);
	completions_learn_again(completions, tgid);
}

/* The function at an address: in a library that has probes, or in a file that was opened. */
struct code_place {
	const struct learnt *learnt;
	const struct library_set *libraries;
	const struct library *library;
	struct remote_file file; /* without library */
	uint64_t offset; /* of the address in the file */
	char path[PATH_MAX];
};

static int find_place(void *arg, const struct mapping *mapping)
{
	struct code_place *place = arg;
	const uint64_t address = place->learnt->address;
	int err;

	if (address < mapping->start || address >= mapping->end)
		return 0;
	if (!mapping->ino || !mapping->executable)
		return -ENOENT;
	snprintf(place->path, sizeof(place->path), "%s", mapping->path);
	place->offset = address - mapping->start + mapping->offset;
	place->library = library_set_mapped(place->libraries, place->learnt->tgid, mapping);
	err = place->library ? 0 : mapping_open(place->learnt->tgid, mapping, &place->file);
	return err ? err : 1;
}

#define SHARED_MOST 64 /* functions of one library that may have probes in all processes */

/*
 * A function of a library has one probe in all processes: each rank of a job names the same
 * functions, and all of them pay for probes in that library anyway. Their number is limited, since
 * a process can name any function.
 */
static int place_in_library(struct completions *completions, struct probes *probes,
			    const struct code_place *place)
{
	const struct learnt *learnt = place->learnt;
	const struct library *library = place->library;
	uint64_t *shared = map_insert(&completions->shared, library_key(library), 0, NULL);
	const pid_t tgid = *shared < SHARED_MOST ? 0 : learnt->tgid;
	const int err = probes_allow(probes, elf_file(library->elf), learnt->tgid);

	if (err)
		return err;
	if (!probes_claim_function(probes, tgid, library->dev, library->ino, place->offset))
		return 0;
	*shared += !tgid;
	return probes_attach_function(probes, tgid, library, learnt->slot,
				      site_for_completion(learnt->what), place->offset);
}

/* The probe goes to the file that was examined: both through one descriptor. */
static int place_in_file(struct probes *probes, struct code_place *place)
{
	const struct learnt *learnt = place->learnt;
	char path[32];
	struct library library = {
		.dev = place->file.st.st_dev,
		.ino = place->file.st.st_ino,
		.path = place->path,
		.open_path = path,
	};
	int err = probes_allow(probes, &place->file, learnt->tgid);

	if (err ||
	    !probes_claim_function(probes, learnt->tgid, library.dev, library.ino, place->offset)) {
		remote_close(&place->file);
		return err;
	}
	err = elf_load_file(&library.elf, &place->file);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", elf_fd(library.elf));
	err = probes_attach_function(probes, learnt->tgid, &library, learnt->slot,
				     site_for_completion(learnt->what), place->offset);
	elf_free(library.elf);
	return err;
}

static int place_probe_at(struct completions *completions, struct probes *probes,
			  const struct library_set *libraries, const struct learnt *learnt)
{
	struct code_place place = { .learnt = learnt, .libraries = libraries };
	int err = process_each_mapping(learnt->tgid, find_place, &place);

	if (err <= 0)
		return err ? err : -ENOENT;
	return place.library ? place_in_library(completions, probes, &place)
			     : place_in_file(probes, &place);
}

void completions_apply(struct completions *completions, struct probes *probes,
		       const struct library_set *libraries, uint64_t deadline)
{
	VEC(struct learnt) none = { 0 };
	size_t done = 0;
	pid_t held = 0;

	probes_forget_ended(probes);
	for (; done < completions->pending.len && !deadline_over(deadline); done++) {
		const struct learnt *learnt = &completions->pending.data[done];
		int err;

		/*
		 * the functions of a process come one after the other: its mappings are read once
		 */
		if (learnt->tgid != held) {
			process_maps_drop();
			process_maps_hold(learnt->tgid);
		}
		held = learnt->tgid;
		err = place_probe_at(completions, probes, libraries, learnt);
		if (err)
			log_debug("no probe at completion function %#" PRIx64 " of process %d: %s",
				  learnt->address, learnt->tgid, strerror(-err));
	}
	process_maps_drop();
	vec_requeue(&completions->pending, done, &none);
}
