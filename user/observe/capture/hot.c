// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/hot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void hot_init(struct hot *hot, enum link_mechanism mechanism, const struct link_programs *programs,
	      bool comes_back)
{
	*hot = (struct hot){ .comes_back = comes_back, .placed = HOT_ALL };
	for (int group = 0; group < UB_GROUPS; group++)
		links_init(&hot->links[group], mechanism, programs);
}

static void release_probes(struct hot_file *file)
{
	for (int group = 0; group < UB_GROUPS; group++)
		vec_release(&file->probes[group]);
}

void hot_release(struct hot *hot)
{
	for (int group = 0; group < UB_GROUPS; group++)
		links_detach(&hot->links[group]);
	for (int group = 0; group < UB_GROUPS; group++)
		links_release(&hot->links[group]);
	for (size_t i = 0; i < hot->files.len; i++) {
		close(hot->files.data[i].fd);
		release_probes(&hot->files.data[i]);
	}
	vec_release(&hot->files);
}

static int open_file(const char *path, int *fd)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

/* Attaches one group of a file; adds to *refused the probes that are refused for the first time. */
static int attach(struct hot *hot, const char *path, struct hot_file *file, int group,
		  size_t *refused)
{
	size_t some = 0;
	int err;

	if (!file->probes[group].len)
		return 0;
	err = links_attach(&hot->links[group], path, file->probes[group].data,
			   file->probes[group].len, &some);
	if (some > file->refused[group]) {
		*refused += some - file->refused[group];
		file->refused[group] = some;
	}
	return err;
}

int hot_add(struct hot *hot, const char *path, const struct link_probe *probes, size_t n,
	    size_t *refused)
{
	struct hot_file file = { .fd = -1 };
	int err = 0;

	for (size_t i = 0; i < n; i++)
		vec_push(&file.probes[ub_group(probes[i].kind)], probes[i]);
	*refused = 0;
	if (hot->comes_back)
		err = open_file(path, &file.fd);
	for (int group = 0; !err && group < UB_GROUPS; group++)
		if (hot->placed & 1u << group)
			err = attach(hot, path, &file, group, refused);
	if (file.fd >= 0)
		vec_push(&hot->files, file);
	else
		release_probes(&file);
	return err;
}

static int place_group(struct hot *hot, int group, size_t *refused)
{
	char path[64];
	int err = 0;

	/* old links that are still closing would record each hit a second time */
	links_settle(&hot->links[group]);
	for (size_t i = 0; !err && i < hot->files.len; i++) {
		struct hot_file *file = &hot->files.data[i];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
		err = attach(hot, path, file, group, refused);
	}
	return err;
}

int hot_place(struct hot *hot, unsigned int groups, size_t *refused)
{
	int err = 0;

	*refused = 0;
	for (int group = 0; group < UB_GROUPS; group++)
		if (hot->placed & ~groups & 1u << group)
			links_detach(&hot->links[group]);
	for (int group = 0; group < UB_GROUPS; group++) {
		int one = 0;

		if (groups & ~hot->placed & 1u << group)
			one = place_group(hot, group, refused);
		if (!one)
			continue;
		err = one;
		groups &= ~(1u << group);
		links_detach(&hot->links[group]);
	}
	hot->placed = groups;
	return err;
}

uint64_t hot_settle(struct hot *hot)
{
	uint64_t longest = 0;

	for (int group = 0; group < UB_GROUPS; group++) {
		uint64_t took = links_settle(&hot->links[group]);

		longest = took > longest ? took : longest;
	}
	return longest;
}

void hot_drop_call_returns(struct hot *hot)
{
	links_drop_call_returns(&hot->links[UB_GROUP_MPI]);
	for (size_t i = 0; i < hot->files.len; i++) {
		struct hot_file *file = &hot->files.data[i];

		for (size_t k = 0; k < file->probes[UB_GROUP_MPI].len; k++)
			file->probes[UB_GROUP_MPI].data[k].needs_return = false;
	}
}
