// SPDX-License-Identifier: BSD-3-Clause
/*
 * mapped [-OFFSET] FILE...: maps the code of each. Prints "mapped" when it has, and waits to be
 * killed. -OFFSET: where their code begins, so that none of them is read.
 */
#include "map_text.h"

int main(int argc, char **argv)
{
	int first = argc > 1 && *argv[1] == '-' ? 2 : 1;

	for (int i = first; i < argc; i++)
		map_text(argv[i], NULL, first == 2 ? atol(argv[1] + 1) : -1);
	puts("mapped");
	fflush(stdout);
	for (;;)
		pause();
}
