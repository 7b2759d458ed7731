// SPDX-License-Identifier: BSD-3-Clause
/*
 * mapped [-0] FILE...: maps the code of each. Says "mapped" when it has, and waits to be killed.
 * -0: from their beginning, without reading them.
 */
#include <string.h>

#include "map_text.h"

int main(int argc, char **argv)
{
	int first = argc > 1 && !strcmp(argv[1], "-0") ? 2 : 1;

	for (int i = first; i < argc; i++)
		map_text(argv[i], NULL, first == 2 ? 0 : -1);
	puts("mapped");
	fflush(stdout);
	for (;;)
		pause();
}
