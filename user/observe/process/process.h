/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about one process that are lost once it exits, and the side records made of them
 * (docs/side-records.md).
 */
#ifndef UCXBPF_PROCESS_PROCESS_H
#define UCXBPF_PROCESS_PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "observe/process/library.h"

/* A longer list of cores counts as unknown, rather than being cut. */
#define PROCESS_CPUS 1024

/* Variables with a batch system's job number: Slurm, PBS, LSF, Flux; NULL ends them. */
extern const char *const batch_variables[];

struct os_process {
	pid_t pid; /* as this program sees it */
	pid_t ns_pid; /* in its own pid namespace */
	uint64_t pid_ns; /* inode of that namespace, 0 = not readable */
	int64_t uid; /* real user id, -1 = not readable */
	uint64_t start_time; /* ns since boot, in steps of a clock tick (10 ms) */
	char comm[32];
	char uts[65]; /* host name in its namespace, "" = not readable */
	char *exe; /* NULL = not readable */
	json_t *cmdline; /* array of strings */
	json_t *environment; /* name -> value of recorded variables; NULL = not readable */
	int environment_cut; /* number of variables that found no room */
	bool environment_refused; /* this process may not read it: it lacks CAP_DAC_READ_SEARCH */
	char cpus[PROCESS_CPUS]; /* CPUs that its main thread may run on: "0-3,8"; "" = not known */
	int rank, size, local_rank; /* in MPI_COMM_WORLD; -1 = unknown */
	char rank_from[40]; /* variable or object that the rank was read from */
	char job[128]; /* launcher's name of the job, "" = unknown */
	char batch_job[64], step[24]; /* of the batch system, and of Slurm; "" = none, or unknown */
	bool names_slurm; /* by its environment, batch_job is a job of Slurm's */
};

/* 1: its program is a 32-bit one, 0: not; -ESRCH, -EACCES. A kernel thread is -ESRCH. */
int process_is_32bit(pid_t pid);

/* The pid in the process's own pid namespace; pid itself if /proc does not show it. */
pid_t process_ns_pid(pid_t pid);

/* Reads it from /proc. -ESRCH: gone, -EACCES: not allowed; process needs no release then. */
int process_init(struct os_process *process, pid_t pid);
void process_release(struct os_process *process);

/*
 * Fills rank, size, local_rank, rank_from, jobs, environment and environment_cut from environment
 * text: "NAME=value" strings, each with its NUL, size bytes in all.
 */
void launch_facts_from(struct os_process *process, const char *text, unsigned long size);

/*
 * Looks for the rank in the process's memory if its environment has none (started without a
 * launcher, or by an unknown one): Open MPI's MPI_COMM_WORLD object (4.1, 5.0). Returns whether the
 * rank is known now. Before MPI_Init has filled that object it is not.
 */
bool process_rank_from_memory(struct os_process *process, const mapped_libraries *mapped);

/*
 * The address of Open MPI's MPI_COMM_WORLD in a process, which is its handle (4.1, 5.0); 0: not
 * known. The dynamic linker settles it before the program starts.
 */
uint64_t process_comm_world(pid_t pid, const struct mapped_library *mpi);

/* Host name in the process's namespace; -errno. Runs a thread of its own for a foreign namespace.
 */
int process_uts_name(pid_t pid, char *name, size_t size);

/*
 * Side records, owned by the caller; ts is CLOCK_MONOTONIC ns. seen_from is "start" or "attach";
 * mpi is library.mpi_version or "" while no MPI library is mapped.
 */
json_t *process_side_record(const struct os_process *process, const char *mpi,
			    const char *seen_from, uint64_t ts);

/* How many probes a library got; supplied by the caller. */
struct library_probes {
	unsigned int probes, missing, stepped, refused;
};
json_t *library_side_record(pid_t tgid, const struct mapped_library *mapped,
			    const struct library_probes *probes, uint64_t ts);

/* Names of a set of roles (library.h). */
json_t *library_roles_json(unsigned int roles);

#endif
