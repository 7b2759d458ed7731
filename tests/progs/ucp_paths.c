// SPDX-License-Identifier: BSD-3-Clause
/*
 * ucp_paths LIBRARY [ROUNDS [MICROSECONDS [FILE]]]: sends by the paths of paths.h without MPI,
 * every other one by UCP's older function, and a blocking flush at the end.
 */
#include "ucp_pair.h"

#define BYTES 64
#define TAG 3

static char buffer[BYTES];
static int sends;

static void paths_noted(void)
{
	sends++;
	truth_op("tag_send", BYTES);
	truth_message("tag_send", 1, BYTES);
}

static void sent(void *request, ucs_status_t status)
{
	(void)request;
	EXPECT(status == UCS_OK);
}

static const ucp_request_param_t plain;

#define PATHS_SEND()                                                                               \
	pair_wait(sends & 1 ? ucp_tag_send_nbx(pair.ep, buffer, BYTES, TAG, &plain)                \
			    : ucp_tag_send_nb(pair.ep, buffer, BYTES, ucp_dt_make_contig(1), TAG,  \
					      sent))

#include "paths.h"

static void receive(void)
{
	truth_op("tag_recv", BYTES);
	pair_wait(ucp_tag_recv_nbx(pair.worker, buffer, BYTES, TAG, UINT64_MAX, &plain));
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 10, pause = argc > 3 ? atoi(argv[3]) : 0;

	EXPECT(argc > 1);
	pair_start("ucp_paths", 1, argv, NULL);
	load(argv[1], pause, argc > 4 ? argv[4] : NULL);
	for (int i = 0; i < rounds; i++) {
		if (pair.side == 0)
			round_of_sends();
		for (int k = 0; pair.side == 1 && k < PATHS_SENDS; k++)
			receive();
		usleep(pause);
	}
	truth_op("worker_flush", 0);
	ALWAYS_OK(ucp_worker_flush(pair.worker));
	if (pair.side == 0)
		print_paths();
	return pair_end();
}
