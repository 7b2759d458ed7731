// SPDX-License-Identifier: BSD-3-Clause
/* Times the reading of a capture, without what replay makes of it: readcapture FILE. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "file/file.h"

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_result(const char *path, uint64_t records, double cpu)
{
	struct rusage usage = { 0 };
	struct stat st = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	stat(path, &st);
	printf("read: %" PRIu64 " records, %.2f bytes each, %.2f million/s of CPU time, "
	       "peak memory %ld MiB\n",
	       records, (double)st.st_size / (double)records, 1e-6 * (double)records / cpu,
	       usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	const struct ub_hdr *h;
	const char *why = NULL;
	struct file_reader *r;
	uint64_t records = 0, last = 0, disorder = 0;
	int got;

	if (argc != 2 || file_reader_open(&r, argv[1], &why)) {
		fprintf(stderr, "readcapture: %s\n", why ? why : "which file?");
		return 2;
	}
	while ((got = file_reader_next(r, &h)) == 1) {
		disorder += h->ts < last;
		last = h->ts;
		records++;
	}
	if (!file_reader_complete(r, &why))
		fprintf(stderr, "readcapture: %s\n", why);
	file_reader_free(r);
	print_result(argv[1], records, seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
	return got || disorder || why;
}
