// SPDX-License-Identifier: BSD-3-Clause
/*
 * The facts of a process: from /proc, from the launcher's variables in its environment, and its
 * rank from its memory.
 */
#include "observe/process/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "base/lists.h"
#include "base/log.h"
#include "base/shape.h"
#include "base/text.h"
#include "base/vec.h"
#include "observe/process/batch.h"
#include "observe/process/elf.h"
#include "observe/process/proc.h"
#include "observe/process/remote.h"

struct visit {
	int fd, error;
	struct utsname names;
};

/*
 * Runs in a thread that ends afterwards, so that nobody has to return from the foreign namespace.
 */
static void *visit_namespace(void *arg)
{
	struct visit *visit = arg;

	if (setns(visit->fd, CLONE_NEWUTS) || uname(&visit->names))
		visit->error = -errno;
	return NULL;
}

static bool is_own_namespace(int fd)
{
	struct stat own, other;

	return !stat("/proc/self/ns/uts", &own) && !fstat(fd, &other) && own.st_ino == other.st_ino;
}

static int visit_in_thread(struct visit *visit)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, visit_namespace, visit);

	if (error)
		return -error;
	pthread_join(thread, NULL);
	return visit->error;
}

int process_uts_name(pid_t pid, char *name, size_t size)
{
	struct visit visit = { 0 };
	char path[64];
	int error;

	snprintf(path, sizeof(path), "/proc/%d/ns/uts", pid);
	visit.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (visit.fd < 0)
		return -errno;
	if (is_own_namespace(visit.fd))
		error = uname(&visit.names) ? -errno : 0;
	else
		error = visit_in_thread(&visit);
	close(visit.fd);
	if (!error)
		snprintf(name, size, "%s", visit.names.nodename);
	return error;
}

/* Linux takes no more of arguments and environment at exec: 3/4 of _STK_LIM (fs/exec.c). */
#define MAX_ENVIRON (6 << 20)

/*
 * In order of trust: a launcher inside a Slurm allocation leaves the allocation's own variables as
 * they were, so those come last.
 */
static const struct {
	const char *rank, *size, *local_rank;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK" },
	{ "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK" },
	{ "PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID" },
	{ "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID" },
};

static const char *const job_variables[] = {
	"PMIX_NAMESPACE",
	"OMPI_MCA_ess_base_jobid",
	"SLURM_JOB_ID",
	NULL,
};

const char *const batch_variables[] = { "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
					NULL };

/* Numbers by which Slurm knows steps that are no srun (slurm.h). */
static const struct {
	const char *number, *name;
} slurm_steps[] = {
	{ "4294967291", "batch" },
	{ "4294967292", "extern" },
	{ "4294967290", "interactive" },
};

static const char *find_variable(const char *text, size_t size, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = text; at < text + size; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

static int variable_number(const char *text, size_t size, const char *name)
{
	const char *value = find_variable(text, size, name);
	long result;
	char *end;

	if (!value || !*value)
		return -1;
	result = strtol(value, &end, 10);
	return *end || result < 0 || result > 1 << 30 ? -1 : (int)result;
}

/*
 * Of several variables of one name, getenv() finds the first: once one finds no room, later ones
 * are left out as well.
 */
static void keep_variable(struct os_process *process, const char *name, const char *value,
			  size_t *room)
{
	size_t size = strlen(name) + strlen(value);
	char *text;

	if (json_object_get(process->environment, name))
		return;
	if (size > *room) {
		process->environment_cut++;
		*room = 0;
		return;
	}
	text = text_plain(value);
	json_object_set_new(process->environment, name, json_string(text));
	*room -= size;
	free(text);
}

static void keep_environment(struct os_process *process, const char *text, size_t size)
{
	size_t room = ENVIRONMENT_ROOM;

	process->environment = json_object();
	for (const char *at = text; at < text + size; at += strlen(at) + 1) {
		const char *value = strchr(at, '=');
		char *name = value ? xstrndup(at, value - at) : NULL;
		char *plain = name ? text_plain(name) : NULL;

		if (plain && environment_kept(plain))
			keep_variable(process, plain, value + 1, &room);
		free(plain);
		free(name);
	}
}

/* The first of some variables that is there and not empty. */
static void copy_variable(char *to, size_t room, const char *text, size_t size,
			  const char *const *names)
{
	const char *value = NULL;

	while (*names && !(value && *value))
		value = find_variable(text, size, *names++);
	if (value)
		snprintf(to, room, "%s", value);
}

static void batch_facts(struct os_process *process, const char *text, size_t size)
{
	const char *step = find_variable(text, size, "SLURM_STEP_ID");

	copy_variable(process->batch_job, sizeof(process->batch_job), text, size, batch_variables);
	process->names_slurm = find_variable(text, size, "SLURM_JOB_ID");
	for (size_t i = 0; step && i < ARRAY_SIZE(slurm_steps); i++)
		if (!strcmp(step, slurm_steps[i].number))
			step = slurm_steps[i].name;
	if (step)
		snprintf(process->step, sizeof(process->step), "%s", step);
}

void launch_facts_from(struct os_process *process, const char *text, unsigned long size)
{
	for (size_t i = 0; i < ARRAY_SIZE(launchers) && process->rank < 0; i++) {
		process->rank = variable_number(text, size, launchers[i].rank);
		if (process->rank < 0)
			continue;
		process->size = variable_number(text, size, launchers[i].size);
		process->local_rank = variable_number(text, size, launchers[i].local_rank);
		snprintf(process->rank_from, sizeof(process->rank_from), "%s", launchers[i].rank);
	}
	copy_variable(process->job, sizeof(process->job), text, size, job_variables);
	batch_facts(process, text, size);
	keep_environment(process, text, size);
}

/* The environment alone is a claim: it is believed only if Slurm could not show otherwise. */
static void confirm_batch(struct os_process *process)
{
	struct batch_id id;

	if (batch_of(process->pid, &id)) {
		if (*id.step || strcmp(id.job, process->batch_job))
			snprintf(process->step, sizeof(process->step), "%s", id.step);
		snprintf(process->batch_job, sizeof(process->batch_job), "%s", id.job);
	} else if (process->names_slurm && batch_would_show(process->batch_job)) {
		log_info(
			"process %d claims by its environment alone to be in job '%s': not believed",
			process->pid, process->batch_job);
		process->batch_job[0] = process->step[0] = '\0';
	}
}

/*
 * Fills rank, size, local_rank, rank_from, jobs, environment and environment_cut from
 * /proc/PID/environ. That is the environment at exec: variables that the program sets later are
 * missing, and bytes that it writes over the area show. After process.exe.
 */
static void launch_facts(struct os_process *process)
{
	char *text = xmalloc(MAX_ENVIRON + 1);
	long got = proc_read(process->pid, "environ", text, MAX_ENVIRON);

	if (got > 0)
		text[got] = '\0';
	/* nothing can be read of a process that has ended, not even which program it was */
	if (got > 0 || (!got && process->exe))
		launch_facts_from(process, text, (unsigned long)got);
	process->environment_cut += got == MAX_ENVIRON;
	process->environment_refused = got == -EACCES;
	free(text);
}

int process_is_32bit(pid_t pid)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	long got = proc_read(pid, "exe", ident, sizeof(ident));

	if (got < 0)
		return (int)got;
	return got == sizeof(ident) && ident[EI_CLASS] == ELFCLASS32;
}

#define STATUS_ROOM 16384

/* The text after a label of /proc/PID/status ("\nNSpid:"), within text; NULL: no such line. */
static char *read_status(pid_t pid, const char *label, char text[STATUS_ROOM])
{
	long got = proc_read(pid, "status", text, STATUS_ROOM - 1);
	char *at, *end;

	text[got < 0 ? 0 : got] = '\0';
	at = strstr(text, label);
	end = at ? strchr(at + 1, '\n') : NULL;
	if (!end)
		return NULL;
	*end = '\0';
	at += strlen(label);
	return at + strspn(at, "\t ");
}

/* "NSpid:" lists the pid in each namespace, the process's own last. */
pid_t process_ns_pid(pid_t pid)
{
	char text[STATUS_ROOM], *at = read_status(pid, "\nNSpid:", text);
	pid_t ns_pid = pid;

	while (at && *at) {
		ns_pid = (pid_t)strtol(at, &at, 10);
		at += strspn(at, "\t ");
	}
	return ns_pid;
}

/* "Uid:" lists the real one first. */
static int64_t read_uid(pid_t pid)
{
	char text[STATUS_ROOM];
	const char *uid = read_status(pid, "\nUid:", text);

	return uid ? strtoll(uid, NULL, 10) : -1;
}

/* CPUs of the process's first thread; others may be bound elsewhere. */
static void read_cpus(struct os_process *process)
{
	char text[STATUS_ROOM];
	const char *list = read_status(process->pid, "\nCpus_allowed_list:", text);

	if (list && strlen(list) < sizeof(process->cpus) && cpus_count(list) > 0)
		strcpy(process->cpus, list);
}

static uint64_t namespace_inode(pid_t pid, const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, name);
	return stat(path, &st) ? 0 : st.st_ino;
}

static char *read_exe(pid_t pid)
{
	char path[64], target[4096];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	got = readlink(path, target, sizeof(target) - 1);
	return got < 0 ? NULL : xstrndup(target, (size_t)got);
}

static json_t *read_cmdline(pid_t pid)
{
	json_t *words = json_array();
	char text[4096];
	long got = proc_read(pid, "cmdline", text, sizeof(text) - 1);

	if (got < 0)
		return words;
	text[got] = '\0';
	for (char *at = text; at < text + got; at += strlen(at) + 1)
		json_array_append_new(words, shape_text(at));
	return words;
}

int process_init(struct os_process *process, pid_t pid)
{
	struct proc_stat stat;
	int error = proc_stat(pid, 0, &stat);

	*process = (struct os_process){ .pid = pid, .rank = -1, .size = -1, .local_rank = -1 };
	if (error)
		return error;
	memcpy(process->comm, stat.comm, sizeof(process->comm));
	process->start_time = stat.start_time;
	process->ns_pid = process_ns_pid(pid);
	process->pid_ns = namespace_inode(pid, "pid");
	process->uid = read_uid(pid);
	process_uts_name(pid, process->uts, sizeof(process->uts));
	process->exe = read_exe(pid);
	process->cmdline = read_cmdline(pid);
	launch_facts(process);
	confirm_batch(process);
	read_cpus(process);
	return 0;
}

void process_release(struct os_process *process)
{
	free(process->exe);
	json_decref(process->cmdline);
	json_decref(process->environment);
	*process = (struct os_process){ 0 };
}

#define COMM_WORLD_OBJECT "ompi_mpi_comm_world"
#define MAX_RANK (1 << 24)

/*
 * struct ompi_communicator_t (ompi/communicator/communicator.h, 4.1.4): char c_name[64],
 * uint32_t c_contextid, int c_my_rank. The members in front differ by version, so the name is
 * searched; it also proves that the object is alive.
 */
#define RANK_AFTER_NAME 68

static bool rank_at(struct os_process *process, uint64_t address)
{
	static const char name[] = "MPI_COMM_WORLD";
	unsigned char object[512];
	long got = proc_read_memory(process->pid, address, object, sizeof(object));
	const unsigned char *at;
	int rank;

	if (got <= 0)
		return false;
	at = memmem(object, (size_t)got, name, sizeof(name));
	if (!at || at + RANK_AFTER_NAME + sizeof(rank) > object + got)
		return false;
	memcpy(&rank, at + RANK_AFTER_NAME, sizeof(rank));
	if (rank < 0 || rank >= MAX_RANK)
		return false;
	process->rank = rank;
	snprintf(process->rank_from, sizeof(process->rank_from), COMM_WORLD_OBJECT);
	return true;
}

struct program {
	const struct elf *elf;
	struct stat st;
	uint64_t bias;
};

/* Most often all ranks run one file, which is read once. NULL: it cannot be read. */
static const struct elf *program_elf(struct library *mpi, const struct stat *st, const char *path)
{
	uint64_t *index = map_insert(&mpi->programs, st->st_dev, st->st_ino, NULL);
	struct elf *elf;

	/*
	 * the file cannot be opened through a process that ends meanwhile, but maybe through the
	 * next one
	 */
	if (!*index && !elf_load(&elf, path)) {
		vec_push(&mpi->program_elfs, elf);
		*index = mpi->program_elfs.len;
	}
	return *index ? mpi->program_elfs.data[*index - 1] : NULL;
}

static int find_bias(void *arg, const struct mapping *mapping)
{
	struct program *program = arg;

	return mapping->executable && mapping->ino == program->st.st_ino &&
	       !elf_load_bias(program->elf, mapping->start, mapping->offset, &program->bias);
}

/*
 * A program that refers to MPI_COMM_WORLD owns the object through a copy relocation; the library's
 * own stays zero. 0: this one does not.
 */
static uint64_t object_of_program(pid_t pid, struct library *mpi)
{
	struct program program = { 0 };
	uint64_t vaddr, address = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (remote_stat(path, &program.st))
		return 0;
	program.elf = program_elf(mpi, &program.st, path);
	if (program.elf && !elf_object(program.elf, COMM_WORLD_OBJECT, &vaddr, NULL) &&
	    process_each_mapping(pid, find_bias, &program) == 1)
		address = program.bias + vaddr;
	return address;
}

static uint64_t object_of_library(const struct mapped_library *mapped)
{
	uint64_t vaddr;

	if (mapped->library->mpi != MPI_OPEN_MPI ||
	    elf_object(mapped->library->elf, COMM_WORLD_OBJECT, &vaddr, NULL))
		return 0;
	return mapped->base + vaddr;
}

uint64_t process_comm_world(pid_t pid, const struct mapped_library *mpi)
{
	uint64_t own = object_of_library(mpi),
		 program = own ? object_of_program(pid, mpi->library) : 0;

	return program ? program : own;
}

bool process_rank_from_memory(struct os_process *process, const mapped_libraries *mapped)
{
	for (size_t i = 0; process->rank < 0 && i < mapped->len; i++) {
		const struct mapped_library *one = &mapped->data[i];
		uint64_t own = object_of_library(one), program;

		if (!(one->library->roles & LIB_MPI))
			continue;
		program = object_of_program(process->pid, one->library);
		if (!(program && rank_at(process, program)) && own)
			rank_at(process, own);
	}
	return process->rank >= 0;
}
