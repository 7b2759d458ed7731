// SPDX-License-Identifier: BSD-3-Clause
/*
 * Uses UCP beside MPI. The return address of the last MPI call still lies on the stack then, in a
 * part of a frame that nothing writes to: it looks as if that call went on.
 */
#include "mpi_common.h"
#include "ucp_self.h"

#define ROUNDS 40

static char in[8], out[8];

static __attribute__((noinline)) void call_mpi(MPI_Request *request)
{
	volatile char deep[2048] __attribute__((unused));

	deep[0] = 0;
	T(MPI_Irecv)(in, sizeof(in), MPI_BYTE, rank, 0, MPI_COMM_WORLD, request);
}

static __attribute__((noinline)) void call_ucp(ucp_worker_h worker, ucp_ep_h ep, uint64_t tag)
{
	const ucp_request_param_t param = { 0 };
	volatile char unwritten[8192];
	ucs_status_ptr_t request;

	asm volatile("" : : "r"(unwritten) : "memory");
	request = ucp_tag_send_nbx(ep, out, sizeof(out), tag, &param);
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
	EXPECT(!UCS_PTR_IS_ERR(request));
	request = ucp_tag_recv_nbx(worker, in, sizeof(in), tag, UINT64_MAX, &param);
	EXPECT(!UCS_PTR_IS_ERR(request));
	while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS)
		ucp_worker_progress(worker);
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
}

int main(int argc, char **argv)
{
	MPI_Request request;
	ucp_worker_h worker;
	ucp_ep_h ep;

	job_start("mpi_beside", &argc, &argv);
	ucp_self_open(&worker, &ep);
	for (int i = 0; i < ROUNDS; i++) {
		call_mpi(&request);
		call_ucp(worker, ep, 7);
		T(MPI_Cancel)(&request);
		T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
	}
	return job_end();
}
