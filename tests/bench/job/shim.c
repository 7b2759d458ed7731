// SPDX-License-Identifier: BSD-3-Clause
/*
 * The published way to trace such jobs, to compare with: an LD_PRELOAD library around the MPI
 * functions (through PMPI) and UCP's tag operations that notes begin, end and glibc's backtrace()
 * of every call in memory. It sees nothing of UCT, whose functions are called through tables.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <time.h>
#include <ucp/api/ucp.h>

#define FRAMES 16
#define EVENTS (1 << 15)

struct event {
	struct timespec begin, end;
	const char *function;
	int frames;
	void *frame[FRAMES];
};

static __thread struct event events[EVENTS];
static __thread unsigned int position;

static struct event *begin(const char *function)
{
	struct event *event = &events[position++ % EVENTS];

	event->function = function;
	event->frames = backtrace(event->frame, FRAMES);
	clock_gettime(CLOCK_MONOTONIC, &event->begin);
	return event;
}

static void end(struct event *event)
{
	clock_gettime(CLOCK_MONOTONIC, &event->end);
}

/* UCP comes with a plugin that Open MPI loads for itself alone: RTLD_NEXT does not find it. */
static void *real(const char *function)
{
	return dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), function);
}

#define MPI_FUNCTION(name, parameters, arguments)                                                  \
	int MPI_##name parameters                                                                  \
	{                                                                                          \
		struct event *event = begin(#name);                                                \
		int result = PMPI_##name arguments;                                                \
                                                                                                   \
		end(event);                                                                        \
		return result;                                                                     \
	}

#define UCP_FUNCTION(type, name, parameters, arguments)                                            \
	type name parameters                                                                       \
	{                                                                                          \
		static type(*function) parameters;                                                 \
		struct event *event = begin(#name);                                                \
		type result;                                                                       \
                                                                                                   \
		if (!function)                                                                     \
			*(void **)&function = real(#name);                                         \
		result = function arguments;                                                       \
		end(event);                                                                        \
		return result;                                                                     \
	}

/* clang-format off */
MPI_FUNCTION(Send, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
	     (buffer, count, type, to, tag, comm))
MPI_FUNCTION(Recv, (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
		    MPI_Status *status), (buffer, count, type, from, tag, comm, status))
MPI_FUNCTION(Isend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
		     MPI_Request *request), (buffer, count, type, to, tag, comm, request))
MPI_FUNCTION(Irecv, (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
		     MPI_Request *request), (buffer, count, type, from, tag, comm, request))
MPI_FUNCTION(Wait, (MPI_Request *request, MPI_Status *status), (request, status))
MPI_FUNCTION(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
	     (count, requests, statuses))

UCP_FUNCTION(ucs_status_ptr_t, ucp_tag_send_nb,
	     (ucp_ep_h ep, const void *buffer, size_t count, ucp_datatype_t type, ucp_tag_t tag,
	      ucp_send_callback_t cb), (ep, buffer, count, type, tag, cb))
UCP_FUNCTION(ucs_status_t, ucp_tag_send_nbr,
	     (ucp_ep_h ep, const void *buffer, size_t count, ucp_datatype_t type, ucp_tag_t tag,
	      void *request), (ep, buffer, count, type, tag, request))
UCP_FUNCTION(ucs_status_ptr_t, ucp_tag_send_nbx,
	     (ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
	      const ucp_request_param_t *param), (ep, buffer, count, tag, param))
UCP_FUNCTION(ucs_status_ptr_t, ucp_tag_send_sync_nb,
	     (ucp_ep_h ep, const void *buffer, size_t count, ucp_datatype_t type, ucp_tag_t tag,
	      ucp_send_callback_t cb), (ep, buffer, count, type, tag, cb))
UCP_FUNCTION(ucs_status_ptr_t, ucp_tag_send_sync_nbx,
	     (ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
	      const ucp_request_param_t *param), (ep, buffer, count, tag, param))
UCP_FUNCTION(ucs_status_ptr_t, ucp_tag_recv_nb,
	     (ucp_worker_h worker, void *buffer, size_t count, ucp_datatype_t type, ucp_tag_t tag,
	      ucp_tag_t mask, ucp_tag_recv_callback_t cb),
	     (worker, buffer, count, type, tag, mask, cb))
UCP_FUNCTION(ucs_status_t, ucp_tag_recv_nbr,
	     (ucp_worker_h worker, void *buffer, size_t count, ucp_datatype_t type, ucp_tag_t tag,
	      ucp_tag_t mask, void *request), (worker, buffer, count, type, tag, mask, request))
UCP_FUNCTION(ucs_status_ptr_t, ucp_tag_recv_nbx,
	     (ucp_worker_h worker, void *buffer, size_t count, ucp_tag_t tag, ucp_tag_t mask,
	      const ucp_request_param_t *param), (worker, buffer, count, tag, mask, param))
