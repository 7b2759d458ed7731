/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of report/. */
#ifndef UCXBPF_REPORT_INTERNAL_H
#define UCXBPF_REPORT_INTERNAL_H

#include "base/map.h"
#include "explain/clocks/clocks.h"
#include "explain/hang/hang.h"
#include "show/report/collectives.h"
#include "show/report/cube.h"
#include "show/report/durations.h"
#include "show/report/functions.h"
#include "show/report/report.h"
#include "show/report/sizes.h"
#include "show/report/tags.h"
#include "show/report/waits.h"

/* Word 0 of a key is the process unless the shape differs. */
extern const struct cube_shape report_calls_shape;
extern const struct cube_shape report_plain_ops_shape; /* without their memory */
extern const struct cube_shape report_plain_transfers_shape; /* without the reasons */
extern const struct cube_shape report_plain_messages_shape; /* without their memory and way */
extern const struct cube_shape report_call_sites_shape;
extern const struct cube_shape report_callers_shape;
extern const struct cube_shape report_stacks_shape;

enum transfer_key {
	T_PROCESS,
	T_PEER,
	T_OP,
	T_TRANSPORT,
	T_DEVICE,
	T_LOCALITY,
	T_KIND,
	T_DATA_PATH,
	T_INITIATOR,
	T_UCP_OP,
	T_FUNCTION,
	T_PROTOCOL,
	T_SRC_MEM,
	T_DST_MEM,
	T_SRC_REASON,
	T_DST_REASON,
};

enum message_key {
	M_SRC,
	M_DST,
	M_FUNCTION,
	M_SRC_MEM,
	M_DST_MEM,
	M_SRC_REASON,
	M_DST_REASON,
	M_CHAIN,
	M_VIA,
	M_CHAIN_REASON,
};

/* A path of transfers; its components, without the memory, come first. */
enum path_key {
	P_TRANSPORT,
	P_DEVICE,
	P_OP,
	P_PROTOCOL,
	P_LOCALITY,
	P_KIND,
	P_DATA_PATH,
	P_INITIATOR,
	P_SRC_MEM,
	P_DST_MEM,
	P_KEYS
};

extern const struct cube_shape report_path_shape;

struct report_process {
	struct fact_process fact; /* its lists are copied */
	struct fact_lifetime lifetime; /* known once it has exited */
	bool known;
};

struct report_host {
	const char *id, *name;
	bool known;
	uint64_t first, last; /* ns on its clock, over all facts; last 0: no facts */
};

/* How many facts of a type the filter selects. */
struct selected {
	uint64_t count, of;
	uint64_t unknown; /* of these, sums with unknown causes: they are shown */
	uint64_t bytes, bytes_of; /* where known; a call's bytes are the ones it sent */
};

#define SLOWEST_MAX 20

/* At least the transfers that took longest. */
struct slowest {
	struct fact_transfer transfers[SLOWEST_MAX]; /* longest first; ties in order of arrival */
	size_t len;
};

/* Considers a transfer; one whose end is unknown or only an upper bound is ignored. */
void slowest_offer(struct slowest *slowest, const struct fact_transfer *transfer);

uint64_t slowest_time(const struct fact_transfer *transfer);

struct report {
	struct report_filter *filter; /* NULL: everything */
	bool filtering;
	struct selection selection;
	struct {
		struct selected calls, ops, transfers, messages;
	} selected;
	bool gpu; /* some process has a GPU library */
	VEC(struct report_process) processes; /* by index; gaps are unknown */
	VEC(struct report_host) hosts; /* by index */
	VEC(struct fact_window) windows; /* by capture, then in order of time */
	VEC(struct fact_memory) memory; /* empty: no GPU library allocated any */
	struct cube calls, ops, transfers, messages, errors, call_sites, stacks;
	struct durations call_durations; /* by function */
	struct durations path_durations; /* of transfers, by report_path_shape */
	struct cube callers; /* of operations outside MPI, by place, 0: not known */
	struct map places; /* key -> const struct place * of call sites and callers */
	struct map paths; /* key -> const struct stack * */
	bool knows_stacks, knows_op_stacks;
	bool knows_places; /* some capture has call sites */
	bool knows_callers; /* the caller of some operation outside MPI is known */
	struct slowest slowest;
	struct report_functions functions;
	struct report_sizes sizes;
	struct report_waits waits;
	struct report_collectives collectives;
	struct report_tags tags;
	struct clocks clocks; /* clocks of hosts, over all messages whatever the filter */
	struct fact_totals totals;
};

/* fact_recorded() of its captures. */
static inline enum fact_extent report_recorded(const struct report *report, enum level level)
{
	return fact_recorded(&report->totals.self, level);
}

/* Whether a filter is set that no call, operation, transfer or message passes. */
bool report_selects_nothing(const struct report *report);

/* Whether GPU memory may be involved; otherwise all memory is the host's and is not shown. */
bool report_knows_memory(const struct report *report);

/* Durations of transfers by path; without the memory if all is the host's. Release them. */
struct durations report_paths(const struct report *report);

/* Whether all captures were made with --count: messages are unknown. */
bool report_only_counts(const struct report *report);

const struct report_process *report_process_at(const struct report *report, int64_t index);

/* Who is behind. */
void report_behind(const struct report *report, hang_rows *rows);

/* How long a process was observed, ns: from its first fact to its end, or that of the capture. */
uint64_t report_process_span(const struct report *report, int process);

/* The sum of that over all processes that called MPI. */
uint64_t report_mpi_span(const struct report *report);

/* The place for a key of call_sites or callers, or of a wait; NULL: 0, or unknown. */
const struct place *report_place(const struct report *report, uint64_t key);

/* The stack for a key of stacks. */
const struct stack *report_stack(const struct report *report, uint64_t key);

/*
 * Data transfers between hosts: per NIC, and per route from memory and NIC to NIC and memory. The
 * NIC at the far end of a transfer is known if only one is possible.
 */
extern const struct cube_shape report_nics_shape, report_routes_shape;

enum nic_key { N_HOST, N_DEVICE, N_DIRECTION };
enum route_key { R_SRC_HOST, R_SRC_MEM, R_SRC_NIC, R_DST_NIC, R_DST_HOST, R_DST_MEM };

/* Both are empty if nothing went between hosts. The caller initialises and releases them. */
void report_networks(const struct report *report, struct cube *nics, struct cube *routes);

/* Copies non-empty reasons sorted by name, at most FACT_MAX_REASONS; returns their number. */
int report_reasons(const struct fact_reason *from, struct fact_reason *to);

#endif
