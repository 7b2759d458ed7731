// SPDX-License-Identifier: BSD-3-Clause
#include "capture/hot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void hot_init(struct hot *hot, enum link_mechanism mechanism, const struct link_programs *programs,
	      bool comes_back)
{
	*hot = (struct hot){ .comes_back = comes_back };
	links_init(&hot->links, mechanism, programs);
}

void hot_release(struct hot *hot)
{
	links_release(&hot->links);
	for (size_t i = 0; i < hot->files.len; i++) {
		close(hot->files.data[i].fd);
		vec_release(&hot->files.data[i].probes);
	}
	vec_release(&hot->files);
}

static int keep(struct hot *hot, const char *path, const struct link_probe *probes, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hot_file *file;

	if (fd < 0)
		return -errno;
	file = vec_add(&hot->files);
	file->fd = fd;
	for (size_t i = 0; i < n; i++)
		vec_push(&file->probes, probes[i]);
	return 0;
}

int hot_add(struct hot *hot, const char *path, const struct link_probe *probes, size_t n,
	    size_t *refused)
{
	int err = hot->comes_back ? keep(hot, path, probes, n) : 0;

	*refused = 0;
	if (err || hot->away)
		return err;
	return links_attach(&hot->links, path, probes, n, refused);
}

void hot_detach(struct hot *hot)
{
	links_detach(&hot->links);
	hot->away = true;
}

int hot_attach(struct hot *hot)
{
	int err = 0;

	hot->away = false;
	for (size_t i = 0; i < hot->files.len; i++) {
		const struct hot_file *file = &hot->files.data[i];
		size_t refused;
		char path[64];
		int one;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
		one = links_attach(&hot->links, path, file->probes.data, file->probes.len,
				   &refused);
		err = one ? one : err;
	}
	return err;
}

void hot_drop_call_returns(struct hot *hot)
{
	links_drop_call_returns(&hot->links);
	for (size_t i = 0; i < hot->files.len; i++) {
		struct hot_file *file = &hot->files.data[i];

		for (size_t k = 0; k < file->probes.len; k++)
			if (file->probes.data[k].kind == UB_CALL)
				file->probes.data[k].needs_return = false;
	}
}
