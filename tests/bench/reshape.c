// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes a capture of another one, for what cannot be captured here: reshape IN OUT [HOW DEV] <SIDES
 * The side records are those on standard input, one JSON object per line (tests/bench/sides prints
 * IN's). HOW: a second interface beside each of the device DEV, whose name ends with a digit, is
 * there from its opening on, with the next digit. Of each eager message's fragments behind the
 * first one, it carries all ("rest"), or so many that both interfaces carry the same ("halves").
 * Any other HOW is the transport whose name the device gets; it is called mlx5_0:1 then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"

struct reshape {
	struct file_writer *to;
	const char *device; /* NULL: no second interface */
	const char *transport; /* NULL: a second interface, */
	bool halves; /* that carries half of what is divided, or else all */
};

/* No process has such an address. */
#define SECOND (1ull << 60)

static void put(const struct reshape *reshape, const struct ub_hdr *record)
{
	if (file_writer_record(reshape->to, record))
		abort();
}

/* count of them, from the n-th on, over an interface of its own */
static void put_some(const struct reshape *reshape, const struct ub_frags *all, uint32_t from,
		     uint32_t count, uint64_t offset)
{
	struct ub_frags some = *all;

	if (!count)
		return;
	some.count = count;
	some.xfer.iface += offset;
	some.xfer.length = from + count == all->count ? all->xfer.length - (int64_t)from * all->each
						      : (int64_t)count * all->each;
	some.time = all->time / all->count * count;
	put(reshape, &some.xfer.h);
}

static void put_fragments(const struct reshape *reshape, const struct ub_frags *frags)
{
	/* the first one has gone over the first interface, and the last one is short */
	uint32_t kept = reshape->halves ? (frags->count - 1) / 2 : 0;

	put_some(reshape, frags, 0, kept, 0);
	put_some(reshape, frags, kept, frags->count - kept, SECOND);
}

static void put_second(const struct reshape *reshape, const struct ub_obj *opened)
{
	struct ub_obj second = *opened;

	if (strcmp(opened->dev_name, reshape->device) != 0)
		return;
	second.obj += SECOND;
	second.dev_name[strlen(second.dev_name) - 1]++;
	put(reshape, &second.h);
}

static void put_renamed(const struct reshape *reshape, const struct ub_obj *opened)
{
	struct ub_obj renamed = *opened;

	if (!strcmp(opened->dev_name, reshape->device)) {
		snprintf(renamed.tl_name, sizeof(renamed.tl_name), "%s", reshape->transport);
		snprintf(renamed.dev_name, sizeof(renamed.dev_name), "mlx5_0:1");
	}
	put(reshape, &renamed.h);
}

static void put_record(const struct reshape *reshape, const struct ub_hdr *record)
{
	if (record->kind == UB_FRAGS && reshape->device && !reshape->transport) {
		put_fragments(reshape, (const struct ub_frags *)record);
		return;
	}
	if (record->kind == UB_OBJ && reshape->transport) {
		put_renamed(reshape, (const struct ub_obj *)record);
		return;
	}
	put(reshape, record);
	if (record->kind == UB_OBJ && reshape->device)
		put_second(reshape, (const struct ub_obj *)record);
}

static int put_sides(const struct reshape *reshape)
{
	json_t *side;

	while ((side = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, NULL))) {
		if (file_writer_side(reshape->to, side))
			return 1;
		json_decref(side);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct reshape reshape = { 0 };
	struct file_reader *from;
	const struct ub_hdr *record;
	const char *why = "reshape IN OUT [halves|rest|TRANSPORT DEV] <SIDES";
	int got = -1;

	if ((argc != 3 && argc != 5) || file_reader_open(&from, argv[1], &why) ||
	    file_writer_open(&reshape.to, argv[2])) {
		fprintf(stderr, "reshape: %s\n", why);
		return 2;
	}
	if (argc == 5) {
		reshape.halves = !strcmp(argv[3], "halves");
		reshape.transport = reshape.halves || !strcmp(argv[3], "rest") ? NULL : argv[3];
		reshape.device = argv[4];
	}
	if (!put_sides(&reshape))
		while ((got = file_reader_next(from, &record)) == 1)
			put_record(&reshape, record);
	if (file_writer_close(reshape.to, file_reader_stats(from)))
		got = -1;
	file_reader_free(from);
	return got != 0;
}
