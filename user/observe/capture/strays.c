// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/strays.h"

#include <stdlib.h>

#include "base/alloc.h"

static void drop(struct stray *stray)
{
	free(stray->path);
	*stray = (struct stray){ 0 };
}

void strays_release(struct strays *strays)
{
	for (size_t i = 0; strays->all && i < STRAYS_MOST; i++)
		drop(&strays->all[i]);
	free(strays->all);
	*strays = (struct strays){ 0 };
}

void strays_add(struct strays *strays, pid_t tgid, const struct mapping *mapping, uint64_t time)
{
	struct stray *stray;

	if (!mapping->executable || !mapping->ino)
		return;
	if (!strays->all)
		strays->all = xcalloc(STRAYS_MOST, sizeof(*strays->all));
	stray = &strays->all[strays->next++ % STRAYS_MOST];
	drop(stray);
	*stray = (struct stray){ tgid, time, *mapping, xstrdup(mapping->path) };
	stray->mapping.path = stray->path;
}

void strays_exec(struct strays *strays, pid_t tgid, uint64_t time)
{
	for (size_t i = 0; strays->all && i < STRAYS_MOST; i++)
		if (strays->all[i].tgid == tgid && strays->all[i].time < time)
			drop(&strays->all[i]);
}

void strays_take(struct strays *strays, pid_t tgid,
		 void (*fn)(void *arg, pid_t tgid, const struct mapping *mapping, uint64_t time),
		 void *arg)
{
	for (size_t i = 0; strays->all && i < STRAYS_MOST; i++) {
		struct stray *stray = &strays->all[(strays->next + i) % STRAYS_MOST];

		if (stray->tgid != tgid)
			continue;
		fn(arg, tgid, &stray->mapping, stray->time);
		drop(stray);
	}
}
