// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/otf2.h"

#include <errno.h>
#include <stdlib.h>

#include "show/export/export.h"

static void *begin(struct export_target *target, int *err)
{
	struct otf2 *otf2 = calloc(1, sizeof(*otf2));

	*err = -ENOMEM;
	if (!otf2)
		return NULL;
	otf2->target = target;
	spans_init(&otf2->spans, LAYER_MPI);
	worlds_init(&otf2->worlds);
	otf2->spans.worlds = &otf2->worlds;
	return otf2;
}

static struct fact_sink sink(void *arg)
{
	struct otf2 *otf2 = arg;

	return spans_sink(&otf2->spans);
}

static int write_archive(struct otf2 *otf2, const struct fact_totals *totals)
{
	int err = otf2_open(&otf2->out, otf2->target->path);

	if (err)
		return err;
	placing_make(&otf2->placing, &otf2->spans);
	otf2_define(otf2, totals);
	err = otf2_settle_worlds(otf2, totals);
	if (!err)
		err = otf2_spans(otf2);
	if (err)
		return err;
	otf2_define_rest(otf2);
	return otf2_close(&otf2->out);
}

static int end(void *arg, const struct fact_totals *totals)
{
	struct otf2 *otf2 = arg;
	int err = spans_finish(&otf2->spans, otf2->target->why);

	if (err)
		return err;
	err = write_archive(otf2, totals);
	if (err == -EIO && *otf2->out.why)
		snprintf(otf2->target->why, EXPORT_WHY, "OTF2: %s", otf2->out.why);
	return err;
}

static void release(void *arg)
{
	struct otf2 *otf2 = arg;

	otf2_release(&otf2->out);
	spans_release(&otf2->spans);
	placing_release(&otf2->placing);
	worlds_release(&otf2->worlds);
	vec_release(&otf2->not_collective);
	vec_release(&otf2->ranks);
	vec_release(&otf2->begun);
	free(otf2);
}

const struct export_format export_otf2 = {
	.name = "otf2",
	.help = "an archive in the Open Trace Format 2, for Vampir and Scalasca",
	.place = EXPORT_DIRECTORY,
	.binary = true,
	.begin = begin,
	.sink = sink,
	.end = end,
	.free = release,
};
