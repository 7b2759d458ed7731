// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "observe/capture/wrappers.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"
#include "observe/process/remote.h"

static int set_of(const struct link_probe *probe)
{
	const struct site *site = site_row(UB_COOKIE_SITE(probe->cookie));

	return site && site->wire.derivable ? UB_GROUPS + site->wire.derivable
					    : (int)ub_group(probe->kind);
}

/*
 * The sets of these groups. Without operations nothing can be derived, nor are transfers while
 * those of the other functions are not seen.
 */
static unsigned int sets_in(unsigned int groups, unsigned int away)
{
	unsigned int derivable = groups & 1u << UB_GROUP_MPI ? UB_SHORTS - 1 : 0;

	derivable |= groups & 1u << UB_GROUP_UCT ? UB_SHORTS : 0;
	if (groups & 1u << UB_GROUP_UCP)
		derivable &= ~away;
	return (groups & HOT_ALL) | derivable << UB_GROUPS;
}

void hot_init(struct hot *hot, enum link_mechanism mechanism, const struct link_programs *programs,
	      bool comes_back)
{
	*hot = (struct hot){ .comes_back = comes_back, .placed = HOT_ALL };
	for (int set = 0; set < HOT_SETS; set++)
		links_init(&hot->links[set], mechanism, programs);
}

static void release_probes(struct hot_file *file)
{
	for (int set = 0; set < HOT_SETS; set++)
		vec_release(&file->probes[set]);
}

void hot_release(struct hot *hot)
{
	for (int set = 0; set < HOT_SETS; set++)
		links_detach(&hot->links[set]);
	for (int set = 0; set < HOT_SETS; set++)
		links_release(&hot->links[set]);
	for (size_t i = 0; i < hot->files.len; i++) {
		close(hot->files.data[i].fd);
		release_probes(&hot->files.data[i]);
	}
	vec_release(&hot->files);
}

/* Opens it as a place for probes, not to read it: its server need not answer. */
static int open_file(const char *path, int *fd)
{
	*fd = open(path, O_PATH | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

/* Attaches one group of a file; adds to *refused the probes that are refused for the first time. */
static int attach(struct hot *hot, const char *path, struct hot_file *file, int set,
		  size_t *refused)
{
	size_t some = 0;
	int err;

	if (!file->probes[set].len)
		return 0;
	hot->links[set].file = file->file;
	hot->links[set].pid = file->pid;
	err = links_attach(&hot->links[set], path, file->probes[set].data, file->probes[set].len,
			   &some);
	if (some > file->refused[set]) {
		*refused += some - file->refused[set];
		file->refused[set] = some;
	}
	return err;
}

int hot_add(struct hot *hot, const char *path, const struct link_probe *probes, size_t n,
	    size_t *refused)
{
	struct hot_file file = { .fd = -1, .file = hot->file, .pid = hot->pid };
	int err = 0;

	for (size_t i = 0; i < n; i++)
		vec_push(&file.probes[set_of(&probes[i])], probes[i]);
	*refused = 0;
	if (hot->comes_back)
		err = open_file(path, &file.fd);
	for (int set = 0; !err && set < HOT_SETS; set++)
		if (sets_in(hot->placed, hot->away) & 1u << set)
			err = attach(hot, path, &file, set, refused);
	if (file.fd >= 0)
		vec_push(&hot->files, file);
	else
		release_probes(&file);
	return err;
}

void hot_forget(struct hot *hot, const struct map *files)
{
	size_t kept = 0;

	for (int set = 0; set < HOT_SETS; set++)
		links_forget(&hot->links[set], files);
	for (size_t i = 0; i < hot->files.len; i++) {
		struct hot_file *file = &hot->files.data[i];

		if (!map_find(files, file->file, 0)) {
			hot->files.data[kept++] = *file;
			continue;
		}
		close(file->fd);
		release_probes(file);
	}
	hot->files.len = kept;
}

static int place_set(struct hot *hot, int set, size_t *refused)
{
	char path[64];
	int err = 0;

	/* old links that are still closing would record each hit twice */
	links_settle(&hot->links[set]);
	for (size_t i = 0; !err && i < hot->files.len; i++) {
		struct hot_file *file = &hot->files.data[i];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
		err = attach(hot, path, file, set, refused);
	}
	return err;
}

static void detach_sets(struct hot *hot, unsigned int sets)
{
	for (int set = 0; set < HOT_SETS; set++)
		if (sets & 1u << set)
			links_detach(&hot->links[set]);
}

/* Goes over to other sets; a bit for each that could not be placed. */
static unsigned int place_sets(struct hot *hot, unsigned int sets, int *error, size_t *refused)
{
	unsigned int before = sets_in(hot->placed, hot->away), failed = 0;

	*error = 0;
	*refused = 0;
	detach_sets(hot, before & ~sets);
	for (int set = 0; set < HOT_SETS; set++) {
		int err = sets & ~before & 1u << set ? place_set(hot, set, refused) : 0;

		if (!err)
			continue;
		*error = err;
		failed |= 1u << set;
	}
	return failed;
}

int hot_place(struct hot *hot, unsigned int groups, size_t *refused)
{
	unsigned int wanted = sets_in(groups, hot->away), failed;
	int err;

	failed = place_sets(hot, wanted, &err, refused);
	groups &= ~failed;
	failed >>= UB_GROUPS;
	if (failed >> UB_SHORT_SENDS)
		groups &= ~(1u << UB_GROUP_UCT);
	if (failed & (UB_SHORTS - 1))
		groups &= ~(1u << UB_GROUP_MPI);
	hot->placed = groups;
	detach_sets(hot, wanted & ~sets_in(groups, hot->away));
	return err;
}

int hot_leave_out(struct hot *hot, unsigned int away, size_t *refused)
{
	unsigned int failed;
	int err;

	failed = place_sets(hot, sets_in(hot->placed, away), &err, refused);
	hot->away = away | failed >> UB_GROUPS;
	detach_sets(hot, failed);
	return err;
}

uint64_t hot_settle(struct hot *hot)
{
	uint64_t longest = 0;

	for (int set = 0; set < HOT_SETS; set++) {
		uint64_t took = links_settle(&hot->links[set]);

		longest = took > longest ? took : longest;
	}
	return longest;
}

static void drop_returns(struct hot_file *file, int set)
{
	for (size_t i = 0; i < file->probes[set].len; i++)
		file->probes[set].data[i].needs_return = false;
}

void hot_drop_call_returns(struct hot *hot)
{
	for (int set = 0; set < HOT_SETS; set++) {
		if (set != UB_GROUP_MPI && set < UB_GROUPS)
			continue;
		links_drop_call_returns(&hot->links[set]);
		for (size_t i = 0; i < hot->files.len; i++)
			drop_returns(&hot->files.data[i], set);
	}
}

void probes_init(struct probes *probes, struct kernel *kernel, enum link_mechanism mechanism,
		 enum level level, bool windows)
{
	*probes = (struct probes){ .kernel = kernel, .level = level };
	links_init(&probes->links, mechanism, kernel_programs(kernel));
	hot_init(&probes->hot, mechanism, kernel_programs(kernel), windows);
	probes->by_process = links_know_processes(mechanism);
	rewrites_init(&probes->rewrites);
}

void probes_release(struct probes *probes)
{
	links_detach(&probes->links);
	hot_release(&probes->hot);
	links_release(&probes->links);
	rewrites_release(&probes->rewrites);
	vec_release(&probes->libraries);
	vec_release(&probes->wrappers);
	map_release(&probes->functions);
	map_release(&probes->learnt);
	map_release(&probes->ended);
	map_release(&probes->barred);
}

const struct probed *probes_find(const struct probes *probes, const struct library *library)
{
	for (size_t i = 0; i < probes->libraries.len; i++)
		if (probes->libraries.data[i].library == library)
			return &probes->libraries.data[i];
	return NULL;
}

/* Slot 0 is the unknown layout; a full table falls back to it. */
static int layout_slot(struct probes *probes, const struct library *ucp)
{
	const struct layout *layout = ucp ? ucp->layout : NULL;

	if (!layout)
		return 0;
	for (int slot = 1; slot < UB_MAX_LAYOUTS; slot++) {
		if (probes->slots[slot] == layout)
			return slot;
		if (probes->slots[slot])
			continue;
		if (kernel_set_layout(probes->kernel, slot, &layout->wire))
			return 0;
		probes->slots[slot] = layout;
		return slot;
	}
	log_warn("more than %d UCX builds at once: '%s' is traced without its private fields",
		 UB_MAX_LAYOUTS - 1, ucp->path);
	return 0;
}

static void free_slot(struct probes *probes, const struct layout *layout)
{
	for (int slot = 1; slot < UB_MAX_LAYOUTS; slot++)
		if (probes->slots[slot] == layout)
			probes->slots[slot] = NULL;
}

void probes_forget(struct probes *probes, const struct map *keys)
{
	struct map_slot *slot;
	size_t kept = 0, at = 0;

	rewrites_forget(&probes->rewrites, keys);
	links_forget(&probes->links, keys);
	hot_forget(&probes->hot, keys);
	for (size_t i = 0; i < probes->libraries.len; i++) {
		const struct probed probed = probes->libraries.data[i];
		const struct library *library = probed.library;

		if (!map_find(keys, library_key(library), 0)) {
			probes->libraries.data[kept++] = probed;
			continue;
		}
		if (library->layout && !layout_is_row(library->layout))
			free_slot(probes, library->layout);
	}
	probes->libraries.len = kept;
	while ((slot = map_next(keys, &at)))
		map_remove_all(&probes->functions, slot->a);
}

/* Libraries whose probes read private fields by the layout of such a file. */
static void add_users_of_layout(const struct probes *probes, struct map *keys)
{
	unsigned int slots = 0;

	for (size_t i = 0; i < probes->libraries.len; i++) {
		const struct probed *probed = &probes->libraries.data[i];

		if (probed->library->roles & LIB_UCP && probed->slot &&
		    map_find(keys, library_key(probed->library), 0))
			slots |= 1u << probed->slot;
	}
	for (size_t i = 0; i < probes->libraries.len; i++)
		if (slots & 1u << probes->libraries.data[i].slot)
			map_insert(keys, library_key(probes->libraries.data[i].library), 0, NULL);
}

/* A key for links of one process, of the kind that links of a file have. */
static uint64_t process_key(pid_t tgid)
{
	return file_key((dev_t)-1, (ino_t)tgid);
}

static void remove_learnt(struct probes *probes, pid_t tgid)
{
	if (map_remove_all(&probes->learnt, (uint64_t)tgid))
		map_insert(&probes->ended, process_key(tgid), 0, NULL);
}

/*
 * Processes with a probe at a function learnt in such a file lose all of their probes of that kind.
 * barred: and get no new ones in that file.
 */
static void forget_learnt(struct probes *probes, const struct map *keys, bool barred,
			  struct map *processes)
{
	struct map numbers = { 0 };
	const uint64_t *file;
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&probes->functions, &at)))
		if (slot->value && map_find(keys, slot->a, 0))
			*map_insert(&numbers, slot->value, 0, NULL) = slot->a;
	at = 0;
	while ((slot = map_next(&probes->learnt, &at))) {
		file = map_find(&numbers, slot->b, 0);
		if (file)
			map_insert(processes, slot->a, 0, NULL);
		if (file && barred)
			map_insert(&probes->barred, slot->a, *file, NULL);
	}
	at = 0;
	while ((slot = map_next(processes, &at)))
		remove_learnt(probes, (pid_t)slot->a);
	map_release(&numbers);
}

void probes_rewritten(struct probes *probes, struct map *keys, struct map *processes)
{
	forget_learnt(probes, keys, true, processes);
	add_users_of_layout(probes, keys);
	forget_learnt(probes, keys, false, processes);
	probes_forget_ended(probes);
	probes_forget(probes, keys);
	links_settle(&probes->links);
	hot_settle(&probes->hot);
}

bool probes_claim_function(struct probes *probes, pid_t tgid, dev_t dev, ino_t ino, uint64_t offset)
{
	const uint64_t file = file_key(dev, ino);
	uint64_t *number;
	bool fresh;

	if (map_find(&probes->barred, (uint64_t)tgid, file))
		return false;
	number = map_insert(&probes->functions, file, offset, &fresh);
	if (!probes->by_process || (fresh ? !tgid : !*number))
		return fresh;
	if (fresh)
		*number = ++probes->last_function;
	map_insert(&probes->learnt, (uint64_t)tgid, *number, &fresh);
	return fresh;
}

/* Error sites are used only with --count, which in turn does not use arrivals, completions and
 * memory. */
static bool is_used(const struct probes *probes, const struct ub_site *wire)
{
	if (ub_is_error(wire) || !probes->count)
		return ub_is_error(wire) == probes->count;
	return wire->kind == UB_CALL || wire->kind == UB_OP || wire->kind == UB_XFER ||
	       wire->kind == UB_OBJ;
}

/*
 * --count needs the return of an operation whose entry does not show the outcome. Session programs
 * decide that at each hit, and measure the time of a few.
 */
static bool needs_return(const struct probes *probes, const struct planned_probe *planned)
{
	const struct ub_site *wire = &site_row(planned->row)->wire;

	if (!probes->count || wire->kind != UB_OP || probes->links.mechanism == LINK_SESSION)
		return planned->needs_return;
	return wire->what == UB_OP_PROBE || wire->what == UB_OP_DATA_OUT;
}

static struct link_probe link_probe(const struct probes *probes,
				    const struct planned_probe *planned, int slot,
				    unsigned int wrappers)
{
	const struct ub_site *wire = &site_row(planned->row)->wire;

	return (struct link_probe){
		.offset = planned->offset,
		.cookie = UB_COOKIE(planned->row, slot, planned->sp_words,
				    planned->offset - planned->function, wrappers),
		.kind = wire->kind,
		.needs_return = needs_return(probes, planned),
		.at_exit = planned->at_exit,
	};
}

/* Lives of objects and memory are followed between windows as well. */
static bool stays(const struct link_probe *probe)
{
	return probe->kind == UB_OBJ || probe->kind == UB_MEM;
}

/* Those that stay come first. */
static int by_life(const void *left, const void *right)
{
	return stays(right) - stays(left);
}

static int place(struct probes *probes, uint64_t file, const char *path, struct link_probe *list,
		 size_t n, size_t *refused)
{
	size_t lives = 0, hot_refused = 0;
	int err;

	probes->links.file = probes->hot.file = file;
	qsort(list, n, sizeof(*list), by_life);
	while (lives < n && stays(&list[lives]))
		lives++;
	err = links_attach(&probes->links, path, list, lives, refused);
	if (!err && n > lives)
		err = hot_add(&probes->hot, path, list + lives, n - lives, &hot_refused);
	*refused += hot_refused;
	return err;
}

/* Files of one build share an entry. 0: there is no room, which is logged once. */
static unsigned int wrappers_share(struct probes *probes, const struct ub_wrappers *wrappers)
{
	for (size_t i = 0; i < probes->wrappers.len; i++)
		if (!memcmp(&probes->wrappers.data[i], wrappers, sizeof(*wrappers)))
			return (unsigned int)i + 1;
	if (probes->wrappers.len + 1 == UB_MAX_WRAPPERS) {
		log_warn(
			"too many builds of UCX: callers of older functions are unknown for further ones");
		vec_push(&probes->wrappers, *wrappers);
	}
	if (probes->wrappers.len >= UB_MAX_WRAPPERS ||
	    kernel_set_wrappers(probes->kernel, (unsigned int)probes->wrappers.len + 1, wrappers))
		return 0;
	vec_push(&probes->wrappers, *wrappers);
	return (unsigned int)probes->wrappers.len;
}

/* The number of a function's wrappers; 0: it has none, or they are not known. */
static unsigned int wrappers_number(struct probes *probes, const wrapped_functions *wrapped,
				    unsigned int row)
{
	for (size_t i = 0; i < wrapped->len; i++)
		if (!strcmp(wrapped->data[i].symbol, site_row(row)->symbol))
			return wrappers_share(probes, &wrapped->data[i].wrappers);
	return 0;
}

/* Errors are counted with --count alone. */
static void note_missing(const struct probes *probes, struct probed *probed,
			 const struct probe_plan *plan)
{
	for (size_t i = 0; i < plan->missing.len; i++) {
		const struct site *site = site_row(plan->missing.data[i]);

		if (!ub_is_error(&site->wire))
			probed->missing++;
		else if (probes->count)
			probed->lacks_error = site->symbol;
	}
}

int probes_allow(const struct probes *probes, const struct remote_file *file, pid_t tgid)
{
	const int is_roots = probes->everyone ? remote_is_roots(file, tgid) : 1;

	return is_roots > 0 ? 0 : is_roots ? is_roots : -EPERM;
}

int probes_attach(struct probes *probes, const struct library *library, const struct library *ucp)
{
	wrapped_functions wrapped = { 0 };
	struct probed *probed;
	struct probe_plan plan = { 0 };
	struct link_probe *list;
	size_t n = 0, refused = 0;
	int err;

	if (probes_find(probes, library))
		return 0;
	probed = vec_add(&probes->libraries);
	probed->library = library;
	probed->slot = layout_slot(probes, ucp);
	if (probes->call_ends && library->roles & LIB_MPI)
		probed->user_threads = user_threads_of(library);
	plan.call_ends = probes->call_ends && !probed->user_threads;
	plan.sparse = probes->sparse;
	if (library->roles & LIB_UCP)
		wrappers_list(library->elf, &wrapped);
	err = plan_library(&plan, library, probes->level);
	list = calloc(plan.probes.len + 1, sizeof(*list));
	if (!err && !list)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < plan.probes.len; i++) {
		const struct planned_probe *planned = &plan.probes.data[i];

		if (!is_used(probes, &site_row(planned->row)->wire))
			continue;
		if (planned->class == PLACE_REFUSED ||
		    planned->offset - planned->function > UB_MAX_DELTA) {
			probed->refused++;
			continue;
		}
		*map_insert(&probes->functions, library_key(library), planned->function, NULL) = 0;
		probed->stepped += planned->class == PLACE_STEPPED;
		list[n++] = link_probe(probes, planned, probed->slot,
				       wrappers_number(probes, &wrapped, planned->row));
	}
	if (!err && n)
		err = rewrites_watch(&probes->rewrites, library);
	if (!err && n)
		err = place(probes, library_key(library), library->open_path, list, n, &refused);
	note_missing(probes, probed, &plan);
	probed->refused += refused;
	probed->placed = err ? 0 : n - refused;
	probed->since = clock_ns(CLOCK_MONOTONIC);
	log_debug("%s: %u probes, %u missing, %u stepped, %u refused, layout %s", library->path,
		  probed->placed, probed->missing, probed->stepped, probed->refused,
		  probed->slot ? ucp->layout->name : "unknown");
	free(list);
	vec_release(&wrapped);
	plan_release(&plan);
	return err;
}

void probes_forget_process(struct probes *probes, pid_t tgid)
{
	map_remove_all(&probes->barred, (uint64_t)tgid);
	remove_learnt(probes, tgid);
}

void probes_forget_ended(struct probes *probes)
{
	if (probes->ended.used)
		hot_forget(&probes->hot, &probes->ended);
	map_release(&probes->ended);
}

int probes_attach_function(struct probes *probes, pid_t tgid, const struct library *library,
			   int slot, unsigned int row, uint64_t function_offset)
{
	struct planned_probe planned;
	struct link_probe probe;
	size_t refused = 0;
	int err = plan_function(&planned, library, row, function_offset);

	if (!err)
		err = rewrites_watch(&probes->rewrites, library);
	if (err)
		return err;
	probe = link_probe(probes, &planned, slot, 0);
	probes->hot.pid = probes->by_process ? tgid : 0;
	probes->hot.file = probes->hot.pid ? process_key(tgid) : library_key(library);
	err = hot_add(&probes->hot, library->open_path, &probe, 1, &refused);
	probes->hot.pid = 0;
	return err ? err : (refused ? -EINVAL : 0);
}
