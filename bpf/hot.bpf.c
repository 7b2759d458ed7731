/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The programs at sites on the path of messages, as one object file: see run_context.bpf.h. */
#define HOT_OBJECT

#include "mpi.bpf.c"
#include "ucp.bpf.c"
#include "uct.bpf.c"
#include "count.bpf.c"
#include "count_xfer.bpf.c"
#include "count_error.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
