// SPDX-License-Identifier: BSD-3-Clause
/*
 * swapper WAY FILE FILE [MICROSECONDS]: takes turns, as fast as it can, or so often, between two
 * files:
 *
 *   map     maps one executable over the other, at one address
 *   rename  renames copies of them over FIRST-FILE.now, which is mapped executable once
 *   link    has a symbolic link FIRST-FILE.now lead to one or the other
 *
 * Prints "ready" when it has begun, and goes on until it is killed.
 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "map_text.h"

static void place(const char *file, const char *place, int as_link)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s.part", place);
	unlink(part);
	if (as_link ? symlink(file, part) : link(file, part))
		perror(part);
	if (rename(part, place))
		perror(place);
}

int main(int argc, char **argv)
{
	char now[PATH_MAX];
	void *at = NULL;
	useconds_t pause_us;

	if (argc < 4)
		return 2;
	pause_us = argc > 4 ? (useconds_t)atoi(argv[4]) : 0;
	snprintf(now, sizeof(now), "%s.now", argv[2]);
	if (strcmp(argv[1], "map")) {
		place(argv[2], now, argv[1][0] == 'l');
		map_text(now, NULL, -1);
	}
	for (unsigned long i = 0;; i++) {
		if (!strcmp(argv[1], "map"))
			at = map_text(argv[2 + i % 2], at, -1);
		else
			place(argv[2 + i % 2], now, argv[1][0] == 'l');
		if (i == 2) {
			puts("ready");
			fflush(stdout);
		}
		if (pause_us)
			usleep(pause_us);
	}
}
