// SPDX-License-Identifier: BSD-3-Clause
/* Who is behind, in words. */
#include <inttypes.h>

#include "base/alloc.h"
#include "explain/hang/hang.h"

#define NAMED 8 /* processes that wait for each other */

static void tell_names(const int *processes, size_t count, hang_name *name, const void *arg,
		       FILE *out)
{
	const size_t named = count > NAMED ? NAMED : count;

	for (size_t i = 0; i < named; i++) {
		if (i)
			fputs(i + 1 < count ? ", " : " and ", out);
		name(arg, processes[i], out);
	}
	if (named < count)
		fprintf(out, " and %zu more", count - named);
}

static void tell_circle(const struct hang_row *row, hang_name *name, const void *arg, FILE *out)
{
	tell_names(row->processes.data, row->processes.len, name, arg, out);
	fprintf(out, "%s wait for each other", row->certain ? "" : " perhaps");
	if (!row->apart.len)
		return;
	fputs(": ", out);
	tell_names(row->apart.data, row->apart.len, name, arg, out);
	fprintf(out, " %s in %s, %zu others in %s", row->apart.len == 1 ? "is" : "are",
		row->apart_in, row->processes.len - row->apart.len, row->others_in);
}

/* "sleeping, outside of MPI", "running, in MPI_Recv, at x.c:3". */
static void tell_where(const struct fact_thread *thread, FILE *out)
{
	fprintf(out, "%s, ", thread->state ? thread->state : "in an unknown state");
	if (thread->reason)
		fprintf(out, "not known whether in MPI: %s", thread->reason);
	else if (thread->function)
		fprintf(out, "in %s", thread->function);
	else
		fputs(thread->outside ? "outside of MPI" : "not known where", out);
	if (thread->place)
		fprintf(out, ", at %s", thread->place->label);
}

/* " has not entered MPI_Barrier, number 42 of MPI_COMM_WORLD, and is at number 41: it is " */
static void tell_missing(const struct hang_row *row, FILE *out)
{
	fprintf(out, " has %snot entered %s", row->certain ? "" : "perhaps ", row->missing);
	if (row->sequence)
		fprintf(out, ", number %" PRIu64 " of MPI_COMM_WORLD", row->sequence);
	if (row->sequence && row->entered)
		fprintf(out, ", and is at number %" PRIu64, row->entered);
	fputs(": it is ", out);
}

static void tell_one(const struct hang_row *row, hang_name *name, const void *arg, FILE *out)
{
	if (row->processes.len)
		name(arg, row->processes.data[0], out);
	else
		fprintf(out, "rank %d", row->rank);
	if (row->missing)
		tell_missing(row, out);
	else
		fprintf(out, " is %sbehind: it is ", row->certain ? "" : "perhaps ");
	if (row->thread)
		tell_where(row->thread, out);
	else
		fputs(row->processes.len ? "not known where" : "not traced here", out);
}

char *hang_told(const struct hang_row *row, hang_name *name, const void *arg)
{
	const bool circle = row->processes.len > 1;
	char *line;
	size_t size;
	FILE *out = xmemstream(&line, &size);

	if (circle)
		tell_circle(row, name, arg, out);
	else
		tell_one(row, name, arg, out);
	if (row->waiting)
		fprintf(out, "; %" PRIu64 " rank%s for %s", row->waiting,
			row->waiting == 1 ? " waits" : "s wait", circle ? "them" : "it");
	fclose(out);
	return line;
}
