/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about processes, and what launchers leave in the environment. */
#include "unit/process_stock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
#include <signal.h>

#include "observe/process/batch.h"
#include "observe/process/proc.h"
#include "base/lists.h"
#include "observe/process/process.h"
#include "observe/process/snapshot_private.h"

struct expected {
	int rank, size, local_rank;
	const char *from, *job;
};

static void check(const char *environment, size_t size, const struct expected *expected)
{
	struct os_process process = { .rank = -1, .size = -1, .local_rank = -1 };

	launch_facts_from(&process, environment, size);
	assert_int_equal(process.rank, expected->rank);
	assert_int_equal(process.size, expected->size);
	assert_int_equal(process.local_rank, expected->local_rank);
	assert_string_equal(process.rank_from, expected->from);
	assert_string_equal(process.job, expected->job);
	json_decref(process.environment);
}

#define CHECK(environment, ...)                                                                    \
	check(environment, sizeof(environment), &(struct expected){ __VA_ARGS__ })

static void test_launchers(void **state)
{
	(void)state;
	CHECK("OMPI_COMM_WORLD_SIZE=4\0OMPI_COMM_WORLD_RANK=3\0OMPI_COMM_WORLD_LOCAL_RANK=1\0"
	      "PMIX_RANK=3\0PMIX_NAMESPACE=153812993",
	      3, 4, 1, "OMPI_COMM_WORLD_RANK", "153812993");
	CHECK("PMI_RANK=0\0PMI_SIZE=2\0MPI_LOCALRANKID=0", 0, 2, 0, "PMI_RANK", "");
	CHECK("PMIX_RANK=5\0SLURM_NTASKS=8\0SLURM_LOCALID=1\0SLURM_PROCID=5\0SLURM_JOB_ID=77", 5, 8,
	      1, "PMIX_RANK", "77");
	CHECK("SLURM_PROCID=0\0PMI_RANK=6\0SLURM_NTASKS=1\0PMI_SIZE=7", 6, 7, -1, "PMI_RANK", "");
}

static bool from_cgroups(const char *text, const char *job, const char *step)
{
	struct batch_id id;

	return batch_from_cgroups(text, &id) && !strcmp(id.job, job) && !strcmp(id.step, step);
}

static bool from_title(const char *title, const char *job, const char *step)
{
	struct batch_id id;

	return batch_from_title(title, &id) && !strcmp(id.job, job) && !strcmp(id.step, step);
}

/* Slurm's cgroups lie below the root; a user may have such names below a cgroup of his own. */
static void test_jobs_by_slurm(void **state)
{
	static const char *const none[] = {
		"",
		"0::/",
		"0::/user.slice/user-1000.slice/user@1000.service/job_7/step_0",
		"0::/user.slice/user-1000.slice/system.slice/slurmstepd.scope/job_7/step_0",
		"0::/system.slice/x.service/slurmstepd.scope/job_7/step_0",
		"0::/system.slice/slurmstepd.scope/system",
		"0::/system.slice/slurmstepd.scope/job_/step_0",
		"0::/system.slice/slurmstepd.scope/job_7x/step_0",
		"4:memory:/user/slurm/uid_0/job_7/step_0",
		"4:memory:/slurmx/uid_0/job_7/step_0",
		"4:memory:/slurm/job_7/step_0",
	};
	struct batch_id id;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_false(batch_from_cgroups(none[i], &id));
	assert_true(from_cgroups("0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n",
				 "7", "0"));
	assert_true(from_cgroups("0::/system.slice/n1_slurmstepd.scope/job_7/step_batch/user", "7",
				 "batch"));
	assert_true(from_cgroups("5:cpu:/\n4:memory:/slurm/uid_1000/job_77/step_extern/task_1\n",
				 "77", "extern"));
	assert_true(from_cgroups("4:memory:/slurm_n1/uid_0/job_77", "77", ""));

	assert_true(from_title("slurmstepd: [7.0]", "7", "0"));
	assert_true(from_title("slurmstepd: [7.batch]", "7", "batch"));
	assert_true(from_title("slurmstepd: [7+1.interactive]", "7", "interactive"));
	assert_true(from_title("slurmstepd: [7]", "7", ""));
	assert_true(from_title("slurmstepd: [7.x]", "7", ""));
	assert_false(batch_from_title("slurmstepd: [x.0]", &id));
	assert_false(batch_from_title("slurmstepd: [7", &id));
	assert_false(batch_from_title("sh slurmstepd: [7.0]", &id));
}

/* Gone with its parent: a process of root with the title of a step daemon. */
static void step_daemon(const char *title, int ready, int until)
{
	char script[] = "read -r _ <&9", fd[16];

	snprintf(fd, sizeof(fd), "%d", ready);
	dup2(until, 9);
	write(ready, "x", 1);
	execl("/bin/sh", title, "-c", script, (char *)NULL);
	_exit(1);
}

static void test_a_claim_is_refused(void **state)
{
	int ready[2], until[2];
	struct batch_id id;
	char byte;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	assert_false(batch_would_show("987654321"));
	assert_int_equal(pipe(ready) | pipe(until), 0);
	pid = fork();
	if (!pid)
		step_daemon("slurmstepd: [987654321.3]", ready[1], until[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	for (int i = 0; i < 500 && !batch_would_show("987654321"); i++)
		usleep(10000);
	assert_true(batch_would_show("987654321"));
	assert_false(batch_would_show("98765432"));
	assert_false(batch_of(getpid(), &id) && !strcmp(id.job, "987654321"));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_nonsense_is_unknown(void **state)
{
	(void)state;
	CHECK("PATH=/bin", -1, -1, -1, "", "");
	CHECK("PMI_RANK=", -1, -1, -1, "", "");
	CHECK("PMI_RANK=-1", -1, -1, -1, "", "");
	CHECK("PMI_RANK=1x\0PMI_SIZE=2", -1, -1, -1, "", "");
	CHECK("XPMI_RANK=1\0PMI_RANKS=2\0PMI_RANK", -1, -1, -1, "", "");
	CHECK("PMI_RANK=99999999999999999999", -1, -1, -1, "", "");
}

static void kept(const char *environment, size_t size, const char *expected, int cut)
{
	struct os_process process = { .rank = -1, .size = -1, .local_rank = -1 };
	char *text;

	launch_facts_from(&process, environment, size);
	text = json_dumps(process.environment, JSON_SORT_KEYS | JSON_COMPACT);
	assert_string_equal(text, expected);
	assert_int_equal(process.environment_cut, cut);
	free(text);
	json_decref(process.environment);
}

#define KEPT(environment, ...) kept(environment, sizeof(environment) - 1, __VA_ARGS__)

/* What says how messages travel, and nothing that may be a secret. */
static void test_environment(void **state)
{
	(void)state;
	KEPT("", "{}", 0);
	KEPT("PATH=/bin\0AWS_SECRET_ACCESS_KEY=x\0XUCX_TLS=y\0ucx_tls=z\0UCX_", "{}", 0);
	KEPT("UCX_TLS=tcp\0MPI_UCX_TLS=sysv\0OMPI_MCA_pml=ucx\0OMPI_MCA_pml_ucx_tls=any\0"
	     "OMPI_MCA_plm=rsh\0MPIR_CVAR_CH4_NETMOD=ucx\0CUDA_VISIBLE_DEVICES=1,0\0",
	     "{\"CUDA_VISIBLE_DEVICES\":\"1,0\",\"MPIR_CVAR_CH4_NETMOD\":\"ucx\","
	     "\"MPI_UCX_TLS\":\"sysv\",\"OMPI_MCA_pml\":\"ucx\",\"OMPI_MCA_pml_ucx_tls\":\"any\","
	     "\"UCX_TLS\":\"tcp\"}",
	     0);
	/* the first of a name, values with and without anything in them */
	KEPT("UCX_TLS=\0UCX_TLS=tcp\0UCX_A=b=c\0=UCX_B\0UCX_C",
	     "{\"UCX_A\":\"b=c\",\"UCX_TLS\":\"\"}", 0);
	KEPT("UCX_A=\xff\xc3 \x1b[2J\n\0UCX_\xfe=1", "{\"UCX_?\":\"1\",\"UCX_A\":\"?? ?[2J?\"}", 0);
}

/* From the first one on that finds no room, none is kept: the one before it might be its namesake.
 */
static void test_large_environment(void **state)
{
	static char text[6 * 4096 + sizeof("UCX_SMALL=1")];
	struct os_process process = { .rank = -1, .size = -1, .local_rank = -1 };

	(void)state;
	memset(text, 'v', sizeof(text));
	for (int i = 0; i < 6; i++) {
		char *at = text + 4096 * i;

		memcpy(at, "UCX_0=", 6);
		at[4] = '0' + i;
		at[4095] = '\0';
	}
	strcpy(text + 6 * 4096, "UCX_SMALL=1");
	launch_facts_from(&process, text, sizeof(text));
	assert_int_equal(json_object_size(process.environment), 4);
	assert_int_equal(process.environment_cut, 3);
	assert_int_equal(json_string_length(json_object_get(process.environment, "UCX_3")),
			 4095 - 6);
	json_decref(process.environment);
}

static int own_cpus(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	return CPU_COUNT(&set);
}

/* Bound to one core it says so. */
static void test_bound_process(void **state)
{
	struct os_process process;
	cpu_set_t before, one;
	char expected[16];
	int core = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET(core, &before))
		core++;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(process_init(&process, getpid()), 0);
	snprintf(expected, sizeof(expected), "%d", core);
	assert_string_equal(process.cpus, expected);
	process_release(&process);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void test_own_process(void **state)
{
	struct os_process process;
	json_t *record;

	(void)state;
	assert_int_equal(process_is_32bit(getpid()), 0);
	assert_int_equal(process_init(&process, getpid()), 0);
	assert_int_equal(process.pid, getpid());
	/* the kernel keeps 15 bytes of it */
	assert_int_equal(strncmp(process.comm, program_invocation_short_name, 15), 0);
	assert_true(process.start_time > 0 && process.pid_ns > 0);
	assert_int_equal(process.uid, getuid());
	assert_true(strlen(process.uts) > 0);
	assert_int_equal(cpus_count(process.cpus), own_cpus());
	record = process_side_record(&process, "MPICH 4.0.2", "attach", 5);
	assert_string_equal(json_string_value(json_object_get(record, "cpus")), process.cpus);
	assert_int_equal(json_integer_value(json_object_get(record, "uid")), getuid());
	assert_string_equal(json_string_value(json_object_get(record, "t")), "process");
	assert_int_equal(json_integer_value(json_object_get(record, "ts")), 5);
	assert_string_equal(json_string_value(json_object_get(record, "mpi")), "MPICH 4.0.2");
	assert_true(json_array_size(json_object_get(record, "cmdline")) >= 1);
	json_decref(record);
	process_release(&process);
}

static void test_absent_process(void **state)
{
	struct os_process process;
	char name[65];

	(void)state;
	assert_int_equal(process_is_32bit(0x3fffffff), -ESRCH);
	assert_int_equal(process_init(&process, 0x3fffffff), -ESRCH);
	assert_true(process_uts_name(0x3fffffff, name, sizeof(name)) < 0);
	assert_int_equal(process_ns_pid(getpid()), getpid());
}

static void fail_if_called(void *arg, const json_t *record)
{
	(void)arg, (void)record;
	fail_msg("a record of a worker that is none");
}

/* Memory of this very process, which never is a worker: each layout must say so. */
static void test_snapshot_refuses_what_is_no_worker(void **state)
{
	static unsigned char memory[200000];
	static const unsigned char fills[] = { 0x00, 0x01, 0x41, 0xff };
	struct snapshot snapshot;

	(void)state;
	for (unsigned int i = 0; layout_at(i); i++)
		for (size_t f = 0; f < sizeof(fills); f++) {
			memset(memory, fills[f], sizeof(memory));
			snapshot_init(&snapshot, getpid(), layout_at(i), 1000);
			assert_int_equal(
				snapshot_worker(&snapshot, (uintptr_t)memory, fail_if_called, NULL),
				-EBADMSG);
			assert_true(strlen(snapshot.reason) > 0);
			assert_int_equal(snapshot_worker(&snapshot, 0, fail_if_called, NULL),
					 -EBADMSG);
			assert_string_equal(snapshot.reason, "a pointer leads to unmapped memory");
			snapshot_release(&snapshot);
		}
}

/* Across the border of two pages, and never an old value for another look. */
static void test_snapshot_reads_pages(void **state)
{
	unsigned char *memory =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct snapshot snapshot;
	uint64_t value = 0;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(munmap(memory + 8192, 4096), 0);
	for (int i = 0; i < 8192; i++)
		memory[i] = (unsigned char)(i * 7);
	snapshot_init(&snapshot, getpid(), layout_at(0), 1000);
	assert_int_equal(snap_pointer(&snapshot, (uintptr_t)memory + 4093, &value), 0);
	assert_memory_equal(&value, memory + 4093, 8);
	assert_int_equal(snapshot.bytes, 8192);
	assert_int_equal(snap_pointer(&snapshot, (uintptr_t)memory + 8184, &value), 0);
	assert_int_equal(snapshot.bytes, 8192);
	assert_int_equal(snap_pointer(&snapshot, (uintptr_t)memory + 8188, &value), -EBADMSG);
	memory[8184]++;
	snap_forget_pages(&snapshot);
	assert_int_equal(snap_pointer(&snapshot, (uintptr_t)memory + 8184, &value), 0);
	assert_memory_equal(&value, memory + 8184, 8);
	snapshot_release(&snapshot);
	munmap(memory, 8192);
}

static int find_address(void *arg, const struct mapping *mapping)
{
	const uint64_t *address = arg;

	return *address >= mapping->start && *address < mapping->end;
}

static void test_mappings_are_held(void **state)
{
	uint64_t address;
	char *memory;

	(void)state;
	process_maps_hold(getpid());
	memory = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	address = (uintptr_t)memory;
	assert_int_equal(process_each_mapping(getpid(), find_address, &address), 0);
	process_maps_drop();
	assert_int_equal(process_each_mapping(getpid(), find_address, &address), 1);
	munmap(memory, 1 << 20);
	assert_int_equal(process_each_mapping(getpid(), find_address, &address), 0);
}

static void test_snapshot_keeps_its_deadline(void **state)
{
	struct snapshot snapshot;

	(void)state;
	snapshot_init(&snapshot, getpid(), layout_at(0), 0);
	assert_int_equal(snapshot_worker(&snapshot, 4096, fail_if_called, NULL), -ETIME);
	snapshot_release(&snapshot);
}

static void *wait_for(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

static int count_thread(void *arg, pid_t tid)
{
	assert_true(tid > 0);
	++*(int *)arg;
	return 0;
}

static int first_thread(void *arg, pid_t tid)
{
	count_thread(arg, tid);
	return tid;
}

static void test_threads(void **state)
{
	int before = 0, with_one_more = 0, stopped = 0;
	pthread_barrier_t barrier;
	pthread_t other;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(proc_threads(getpid(), count_thread, &before), 0);
	assert_int_equal(pthread_create(&other, NULL, wait_for, &barrier), 0);
	assert_int_equal(proc_threads(getpid(), count_thread, &with_one_more), 0);
	assert_int_equal(with_one_more, before + 1);
	assert_int_equal(proc_threads(getpid(), first_thread, &stopped), getpid());
	assert_int_equal(stopped, 1);
	pthread_barrier_wait(&barrier);
	pthread_join(other, NULL);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(proc_threads(0x7fffffff, count_thread, &before), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launchers),
		cmocka_unit_test(test_jobs_by_slurm),
		cmocka_unit_test(test_a_claim_is_refused),
		cmocka_unit_test(test_nonsense_is_unknown),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_large_environment),
		cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_bound_process),
		cmocka_unit_test(test_absent_process),
		cmocka_unit_test(test_snapshot_refuses_what_is_no_worker),
		cmocka_unit_test(test_snapshot_keeps_its_deadline),
		cmocka_unit_test(test_snapshot_reads_pages),
		cmocka_unit_test(test_mappings_are_held),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
