// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes a capture again as one of another node, or of a node with another clock:
 * recast IN OUT [name=NAME] [id=BOOT-ID] [pid=N] [uuid=N] [offset=NS] [drift=PPM]
 */
#include "bench/recast.h"

static const char *value_of(char **words, const char *name)
{
	size_t length = strlen(name);

	for (; *words; words++)
		if (!strncmp(*words, name, length) && (*words)[length] == '=')
			return *words + length + 1;
	return NULL;
}

static double number_of(char **words, const char *name)
{
	const char *text = value_of(words, name);

	return text ? strtod(text, NULL) : 0;
}

int main(int argc, char **argv)
{
	struct recorded recorded = { 0 };
	struct recast cast = { 0 };
	int error;

	if (argc < 3) {
		fprintf(stderr, "usage: recast IN OUT [name=] [id=] [pid=] [uuid=] [offset=NS] "
				"[drift=PPM]\n");
		return 2;
	}
	error = recorded_read(&recorded, argv[1]);
	if (!error && recorded.records.len) {
		cast = (struct recast){
			.host_id = value_of(argv + 3, "id"),
			.host_name = value_of(argv + 3, "name"),
			.tgid = (uint32_t)number_of(argv + 3, "pid"),
			.uuid = (uint64_t)number_of(argv + 3, "uuid"),
			.offset = llrint(number_of(argv + 3, "offset")),
			.from = recorded.records.data[0].head.ts,
			.drift = number_of(argv + 3, "drift") * 1e-6,
		};
		error = recorded_write(&recorded, &cast, argv[2]);
	}
	recorded_release(&recorded);
	if (error)
		fprintf(stderr, "recast: %s\n", strerror(-error));
	return error ? 1 : 0;
}
