/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose reader ends, hangs, lies, or tries to do something else. */
#include "unit/process_stock.h"
#include "unit/refuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/peer.h"
#include "observe/probe/plan.h"
#include "observe/process/bounds.h"
#include "observe/process/elf.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"
#include "observe/process/reader.h"
#include "observe/process/unwind.h"

static pid_t tracer;

#define FEW 256 /* descriptors that whoever starts readers may have under way */

/* As by a program that ignores its children, and with little room for descriptors. */
static int begin(void **state)
{
	struct rlimit before;

	(void)state;
	tracer = getpid();
	getrlimit(RLIMIT_NOFILE, &before);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ FEW, FEW });
	signal(SIGCHLD, SIG_IGN);
	readers_start();
	signal(SIGCHLD, SIG_DFL);
	setrlimit(RLIMIT_NOFILE, &before);
	return readers_started() ? 0 : -1;
}

/* ---- services of a reader that a file has got hold of ---- */

static long crashes(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	static volatile const int *volatile nowhere;

	(void)elf;
	(void)arguments;
	(void)size;
	(void)answer;
	return *nowhere;
}

static long leaves(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	(void)elf;
	(void)arguments;
	(void)size;
	(void)answer;
	_exit(3);
}

static long hangs(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	static volatile bool forever = true;

	(void)elf;
	(void)arguments;
	(void)size;
	(void)answer;
	while (forever)
		;
	return 0;
}

/* For as much CPU time as it is asked for, so that a stated number of answers is too much. */
static long takes_long(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const uint64_t until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + *(const uint64_t *)arguments;

	(void)elf;
	(void)size;
	(void)answer;
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		;
	return 7;
}

static long lies(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	(void)elf;
	(void)size;
	answer_add(answer, "nonsense", 8);
	return *(const long *)arguments;
}

static long answers(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	(void)elf;
	answer_add(answer, arguments, size);
	return 7;
}

/* The number of the first thing that it can do; 0: none. */
static long tries(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	char byte = 0;
	struct iovec part = { &byte, 1 };

	(void)elf;
	(void)size;
	(void)answer;
	if (syscall(SYS_getppid) != -1 || errno != EPERM)
		return 1;
	if (open("/dev/null", O_RDONLY) != -1 || errno != EPERM)
		return 2;
	if (socket(AF_UNIX, SOCK_STREAM, 0) != -1 || errno != EPERM)
		return 3;
	if (kill(*(const pid_t *)arguments, 0) != -1 || errno != EPERM)
		return 4;
	if (fork() != -1 || errno != EPERM)
		return 5;
	if (process_vm_readv(*(const pid_t *)arguments, &part, 1, &part, 1, 0) != -1 ||
	    errno != EPERM)
		return 6;
	if (execl("/bin/true", "true", NULL) != -1 || errno != EPERM)
		return 7;
	if (unlink("/nowhere") != -1 || errno != EPERM)
		return 8;
	for (int fd = 0; fd < 64; fd++) {
		ssize_t got = write(fd, "", 0);

		/* its socket alone */
		if (got >= 0 && send(fd, "", 0, MSG_DONTWAIT) < 0)
			return 100 + fd;
	}
	return 0;
}

/* ---- */

static void expect_alive(void)
{
	struct elf *elf = stock_open("libucp.so.0");
	reader_answer answer = { 0 };

	assert_int_equal(elf_roles(elf), LIB_UCP);
	assert_int_equal(elf_ask(elf, answers, "abc", 3, &answer), 7);
	assert_int_equal(answer.len, 3);
	assert_memory_equal(answer.data, "abc", 3);
	vec_release(&answer);
	elf_free(elf);
}

static void test_ends(void **state)
{
	reader_answer answer = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct elf *elf = stock_open("libuct.so.0"), *other = stock_open("libucs.so.0");
		const uint64_t began = clock_ns(CLOCK_MONOTONIC);

		assert_int_equal(elf_ask(elf, crashes, NULL, 0, &answer), -EREMOTEIO);
		/* in less than one that cannot be waited for */
		assert_true(clock_ns(CLOCK_MONOTONIC) - began < 1500000000);
		/* for good, while a file that was open beside it is still there */
		assert_int_equal(elf_ask(elf, answers, "", 0, &answer), -EREMOTEIO);
		assert_int_equal(elf_roles(other), LIB_UCS);
		elf_free(elf);
		elf_free(other);
		expect_alive();
	}
	vec_release(&answer);
}

static void test_leaves(void **state)
{
	struct elf *elf = stock_open("libuct.so.0");
	reader_answer answer = { 0 };

	(void)state;
	assert_int_equal(elf_ask(elf, leaves, NULL, 0, &answer), -EREMOTEIO);
	elf_free(elf);
	expect_alive();
}

static void test_hangs(void **state)
{
	struct elf *elf = stock_open("libuct.so.0");
	reader_answer answer = { 0 };

	(void)state;
	assert_int_equal(elf_ask(elf, hangs, NULL, 0, &answer), -EREMOTEIO);
	assert_int_equal(elf_ask(elf, answers, NULL, 0, &answer), -EREMOTEIO);
	elf_free(elf);
	expect_alive();
}

/* Each answer comes in time, but all of them together take too long. */
static void test_takes_long(void **state)
{
	const uint64_t part = BOUNDS_FILE_NS / 4 + 20 * BOUNDS_MS;
	struct elf *elf = stock_open("libuct.so.0");
	reader_answer answer = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(elf_ask(elf, takes_long, &part, sizeof(part), &answer), 7);
	assert_int_equal(elf_ask(elf, takes_long, &part, sizeof(part), &answer), -EREMOTEIO);
	assert_int_equal(elf_ask(elf, answers, NULL, 0, &answer), -EREMOTEIO);
	elf_free(elf);
	expect_alive();
}

static void test_lies(void **state)
{
	static const long results[] = { 0, 1, INT64_MIN, INT64_MAX };
	char answer[4];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		struct elf *elf = stock_open("libuct.so.0");

		assert_int_equal(
			elf_ask_for(elf, lies, &results[i], sizeof(long), answer, sizeof(answer)),
			-EREMOTEIO);
		elf_free(elf);
		expect_alive();
	}
}

static void test_confined(void **state)
{
	struct elf *elf = stock_open("libuct.so.0");
	reader_answer answer = { 0 };

	(void)state;
	assert_int_equal(elf_ask(elf, tries, &tracer, sizeof(tracer), &answer), 0);
	elf_free(elf);
}

static long fill(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const size_t wanted = *(const size_t *)arguments;

	(void)elf;
	(void)size;
	vec_reserve(answer, wanted);
	memset(answer->data, 'x', wanted);
	answer->len = wanted;
	return 0;
}

static void test_long_answers(void **state)
{
	static const size_t sizes[] = { 0, 1, 65536, 1000001, READER_ANSWER };
	struct elf *elf = stock_open("libuct.so.0");
	const size_t too_long = READER_ANSWER + 1;
	reader_answer answer = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_int_equal(elf_ask(elf, fill, &sizes[i], sizeof(size_t), &answer), 0);
		assert_int_equal(answer.len, sizes[i]);
	}
	assert_int_equal(elf_ask(elf, fill, &too_long, sizeof(size_t), &answer), -EREMOTEIO);
	vec_release(&answer);
	elf_free(elf);
}

/* A file cut short while a reader has it mapped. */
static void test_cut_short(void **state)
{
	struct elf *whole = stock_open("libmpi.so.40"), *elf;
	char command[128];
	uint64_t offset;

	(void)state;
	snprintf(command, sizeof(command), "cp /proc/%d/fd/%d cut.so", getpid(), elf_fd(whole));
	assert_int_equal(system(command), 0);
	assert_int_equal(elf_load(&elf, "cut.so"), 0);
	assert_int_equal(truncate("cut.so", 4096), 0);
	assert_int_equal(elf_function(elf, "PMPI_Init", &offset, NULL), -EREMOTEIO);
	elf_free(elf);
	elf_free(whole);
	remove("cut.so");
	expect_alive();
}

static long number_of(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	static uint32_t number;

	(void)elf;
	(void)arguments;
	(void)size;
	number++;
	answer_add(answer, &number, sizeof(number));
	return 0;
}

/* A file that takes its reader over cannot change answers about files of another owner. */
static void test_owners(void **state)
{
	struct elf *root = stock_open("libucp.so.0"), *other, *open;
	uint32_t number, before;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(system("cp /bin/true other.so && chown 12345 other.so"), 0);
	assert_int_equal(system("cp /bin/true open.so && chmod 666 open.so"), 0);
	assert_int_equal(elf_load(&other, "other.so"), 0);
	assert_int_equal(elf_load(&open, "open.so"), 0);
	assert_int_equal(elf_ask_for(root, number_of, NULL, 0, &before, sizeof(before)), 0);
	assert_int_equal(elf_ask_for(other, number_of, NULL, 0, &number, sizeof(number)), 0);
	assert_int_equal(number, 1);
	assert_int_equal(elf_ask_for(open, number_of, NULL, 0, &number, sizeof(number)), 0);
	assert_int_equal(number, 1);
	assert_int_equal(elf_ask_for(root, number_of, NULL, 0, &number, sizeof(number)), 0);
	assert_int_equal(number, before + 1);
	elf_free(root);
	elf_free(other);
	elf_free(open);
	remove("other.so");
	remove("open.so");
}

/* The kernel refuses to carry more descriptors while nobody receives the ones under way. */
static void test_refused_descriptors(void **state)
{
	char nothing = 0;
	struct iovec byte = { &nothing, 1 };
	struct elf *elf = stock_open("libuct.so.0"), *other = stock_open("libucs.so.0");
	reader_answer answer = { 0 };
	int ends[2], fds[200];

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = ends[0];
	for (size_t i = 0; i <= FEW / ARRAY_SIZE(fds); i++)
		assert_int_equal(peer_send(ends[0], fds, ARRAY_SIZE(fds), &byte, 1, 0), 1);
	assert_int_equal(elf_ask(elf, leaves, NULL, 0, &answer), -EREMOTEIO);
	/* no reader, and nobody waits for one */
	assert_int_equal(elf_ask(other, answers, NULL, 0, &answer), -EREMOTEIO);
	close(ends[0]);
	close(ends[1]);
	vec_release(&answer);
	elf_free(elf);
	elf_free(other);
	expect_alive();
}

/* A library without a name of its own is needed by its path. */
static void test_needed_by_path(void **state)
{
	struct elf *elf;

	(void)state;
	assert_int_equal(system("mkdir -p below && cc -shared -x c /dev/null -o below/a.so && "
				"cc -shared -x c /dev/null -x none -Wl,--no-as-needed ./below/a.so "
				"-o needs.so"),
			 0);
	assert_int_equal(elf_load(&elf, "needs.so"), 0);
	assert_string_equal(elf_needed(elf, 0), "./below/a.so");
	elf_free(elf);
	remove("needs.so");
	remove("below/a.so");
	rmdir("below");
}

/* More owners than readers. */
static void test_many_owners(void **state)
{
	struct elf *elf[40];
	char command[128];

	(void)state;
	if (geteuid())
		skip();
	for (int i = 0; i < 40; i++) {
		snprintf(command, sizeof(command), "cp /bin/true many.so && chown %d many.so",
			 20000 + i);
		assert_int_equal(system(command), 0);
		assert_int_equal(elf_load(&elf[i], "many.so"), 0);
		remove("many.so");
	}
	for (int i = 0; i < 40; i++)
		assert_int_equal(elf_roles(elf[i]), 0);
	for (int i = 0; i < 40; i++)
		elf_free(elf[i]);
	expect_alive();
}

/* ---- many files that are opened before the first answer is taken ---- */

static long says_one(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	(void)elf;
	(void)arguments;
	(void)size;
	answer_add(answer, "one", 3);
	return 1;
}

#define LONG 1000000 /* bytes of an answer: more than fits into a socket */

static long says_much(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const size_t wanted = LONG;

	(void)arguments;
	(void)size;
	return fill(elf, &wanted, sizeof(wanted), answer);
}

static struct reader_file *open_for(struct elf *elf, reader_service serve)
{
	return reader_file_open(elf_fd(elf), (uint64_t)lseek(elf_fd(elf), 0, SEEK_END), 0, "a file",
				serve);
}

static void expect_opened(struct reader_file *file, long wanted, size_t size)
{
	reader_answer answer = { 0 };

	assert_int_equal(reader_file_opened(file, &answer), wanted);
	assert_int_equal(answer.len, size);
	vec_release(&answer);
}

#define MANY 40 /* more than are asked about ahead */

static void test_opened_at_once(void **state)
{
	struct elf *elf = stock_open("libuct.so.0");
	struct reader_file *files[MANY];
	reader_answer answer = { 0 };

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		files[i] = open_for(elf, i % 8 == 3 ? says_much : says_one);
	/* a question in between */
	assert_int_equal(elf_ask(elf, answers, "abc", 3, &answer), 7);
	assert_int_equal(answer.len, 3);
	for (size_t i = MANY; i-- > 0;)
		if (i != 5)
			expect_opened(files[i], i % 8 != 3, i % 8 == 3 ? LONG : 3);
	for (size_t i = 0; i < MANY; i++) {
		if (i != 5)
			assert_int_equal(reader_file_ask(files[i], answers, &i, sizeof(i), &answer),
					 7);
		reader_file_close(files[i]);
	}
	vec_release(&answer);
	elf_free(elf);
	expect_alive();
}

/* One of them ends its reader, or keeps it busy: the others are answered. */
static void test_one_of_many(void **state)
{
	static const reader_service faulty[] = { leaves, crashes, hangs };
	struct elf *elf = stock_open("libuct.so.0");
	struct reader_file *files[8];

	(void)state;
	for (size_t fault = 0; fault < ARRAY_SIZE(faulty); fault++) {
		for (size_t i = 0; i < 8; i++)
			files[i] = open_for(elf, i == 3 ? faulty[fault] : says_one);
		for (size_t i = 0; i < 8; i++)
			expect_opened(files[i], i == 3 ? -EREMOTEIO : 1, i == 3 ? 0 : 3);
		for (size_t i = 0; i < 8; i++)
			reader_file_close(files[i]);
	}
	elf_free(elf);
	expect_alive();
}

/* ---- after their end ---- */

static unsigned int descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void test_descriptors(void **state)
{
	unsigned int before = descriptors();
	reader_answer answer = { 0 };

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		struct elf *elf = stock_open("libuct.so.0");

		if (i % 4 == 0)
			assert_int_equal(elf_ask(elf, leaves, NULL, 0, &answer), -EREMOTEIO);
		elf_free(elf);
		assert_int_equal(elf_load(&elf, "/etc/passwd"), -ENOEXEC);
	}
	vec_release(&answer);
	assert_int_equal(descriptors(), before);
}

/* A child of our own, and what becomes of it. */
static int in_child(void (*act)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void *hang_a_reader(void *elf)
{
	reader_answer answer = { 0 };

	elf_ask(elf, hangs, NULL, 0, &answer);
	return NULL;
}

static void die_as_tracer(void)
{
	struct elf *elf;
	pthread_t thread;

	readers_start();
	elf = stock_open("libuct.so.0");
	pthread_create(&thread, NULL, hang_a_reader, elf);
	usleep(300000);
	kill(getpid(), SIGKILL);
}

/* A reader that is busy with a file, and whoever has started it, end with their tracer. */
static void test_tracer_killed(void **state)
{
	int status;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	status = in_child(die_as_tracer);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (int tries = 0; waitpid(-1, NULL, WNOHANG) >= 0; tries++) {
		usleep(10000);
		/* before the two seconds of CPU time that it may take */
		assert_true(tries < 100);
	}
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

static void without_filters(void)
{
	struct elf *elf;

	refuse(EINVAL, false);
	readers_start();
	elf = stock_open("libuct.so.0");
	_exit(elf_roles(elf) == LIB_UCT ? 0 : 1);
}

/* As a kernel without capabilities: the rest is given up all the same. */
static void without_capabilities(void)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_capset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { ARRAY_SIZE(code), (struct sock_filter *)code };
	reader_answer answer = { 0 };
	const pid_t own = getpid();
	struct elf *elf;

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
	readers_start();
	elf = stock_open("libuct.so.0");
	_exit(elf_ask(elf, tries, &own, sizeof(own), &answer) ? 1 : 0);
}

static void with_refusal(void)
{
	struct elf *elf;
	uint64_t offset;
	char *path;

	/* it is looked at here: the search for it must not fail */
	elf = stock_open("libuct.so.0");
	path = xasprintf("/proc/self/fd/%d", elf_fd(elf));
	assert_int_equal(elf_function(elf, "uct_iface_open", &offset, NULL), 0);
	refuse(EPERM, false);
	readers_start();
	_exit(elf_load(&elf, path) == -EREMOTEIO ? 0 : 1);
}

/* A kernel without filters for system calls, and one that refuses to set them. */
static void test_unconfined(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_filters), 0);
	assert_int_equal(in_child(without_capabilities), 0);
	assert_int_equal(in_child(with_refusal), 0);
}

static void kill_starter(void)
{
	struct elf *elf, *other;
	uint64_t offset;
	char command[64];

	readers_start();
	elf = stock_open("libuct.so.0");
	snprintf(command, sizeof(command), "pkill -KILL -P %d -x ucxbpf-readers", getpid());
	/* its readers are sent their signal before it can be waited for */
	if (system(command) || waitpid(-1, NULL, 0) < 0)
		_exit(2);
	/* earlier answers stay known; nobody reads more, nor waits */
	if (!*elf_build_id(elf) ||
	    elf_function(elf, "uct_iface_open", &offset, NULL) != -EREMOTEIO ||
	    elf_load(&other, "/bin/true") != -EREMOTEIO)
		_exit(1);
	elf_free(elf);
	_exit(0);
}

static void test_starter_killed(void **state)
{
	(void)state;
	assert_int_equal(in_child(kill_starter), 0);
}

/* ---- answers as from a file that is looked at here ---- */

struct seen {
	unsigned int roles, version[3], request_size, probes, missing, left_out, rows, tables;
	enum ucx_asserts asserts;
	uint64_t sums[4];
	char build_id[ELF_BUILD_ID_TEXT], mpi[64], needed[256];
};

static int count_symbol(void *arg, const struct elf_symbol *symbol)
{
	struct seen *seen = arg;

	seen->sums[3] = seen->sums[3] * 31 + symbol->vaddr + symbol->size + strlen(symbol->name) +
			symbol->defined * 2u + symbol->function;
	return 0;
}

static long sum_symbols(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	struct seen seen = { 0 };

	(void)arguments;
	(void)size;
	elf_each_symbol(elf, true, count_symbol, &seen);
	answer_add(answer, &seen.sums[3], sizeof(seen.sums[3]));
	return 0;
}

static void see(const char *name, struct seen *seen)
{
	struct library library = { .elf = stock_open(name) };
	struct elf_ops_table tables[32];
	struct probe_plan plan = { .call_ends = true };
	unwind_rows rows = { 0 };
	struct unwind *unwind;
	const char *needed;
	int more;

	memset(seen, 0, sizeof(*seen));
	seen->roles = library.roles = (unsigned int)elf_roles(library.elf);
	strcpy(seen->build_id, elf_build_id(library.elf));
	elf_mpi_kind(library.elf, seen->mpi, sizeof(seen->mpi));
	ucx_build(library.elf, seen->version, &seen->request_size, &seen->asserts);
	for (unsigned int n = 0; (needed = elf_needed(library.elf, n)); n++)
		snprintf(seen->needed + strlen(seen->needed),
			 sizeof(seen->needed) - strlen(seen->needed), "%s,", needed);
	assert_int_equal(plan_library(&plan, &library, LEVEL_UCT), 0);
	seen->probes = plan.probes.len;
	seen->missing = plan.missing.len;
	seen->left_out = plan.left_out.len;
	for (size_t i = 0; i < plan.probes.len; i++) {
		const struct planned_probe *probe = &plan.probes.data[i];

		seen->sums[0] = seen->sums[0] * 31 + probe->row + probe->offset + probe->function +
				probe->class + probe->needs_return * 7u + probe->sp_words;
	}
	seen->tables = (unsigned int)elf_ops_tables(library.elf, tables, 32);
	for (unsigned int i = 0; i < seen->tables; i++)
		for (unsigned int j = 0; j < ELF_OPS_SLOTS; j++)
			seen->sums[1] = seen->sums[1] * 31 + tables[i].slot[j] + tables[i].vaddr;
	assert_int_equal(elf_ask_for(library.elf, sum_symbols, NULL, 0, &seen->sums[3],
				     sizeof(seen->sums[3])),
			 0);
	if (elf_machine(library.elf) == 62) {
		assert_int_equal(unwind_open(&unwind, library.elf), 0);
		/* a function per question is more than a file may take, where it is large */
		while ((more = unwind_read(unwind, &rows, 1000000)) > 0)
			;
		assert_int_equal(more, 0);
		seen->rows = rows.len;
		for (size_t i = 0; i < rows.len; i++) {
			seen->sums[2] = seen->sums[2] * 31 + rows.data[i].pc + rows.data[i].rule;
			if (i % 500 == 0)
				assert_int_equal(unwind_rule(unwind, rows.data[i].pc),
						 rows.data[i].rule);
		}
		unwind_close(unwind);
		vec_release(&rows);
	}
	plan_release(&plan);
	elf_free(library.elf);
}

static const char *const stock[] = { "libucp.so.0",  "libuct.so.0",    "ucx/libuct_ib.so.0",
				     "libmpi.so.40", "libmpich.so.12", "libc.so.6" };
static struct seen here[ARRAY_SIZE(stock)];

/* Before there are readers. */
static void test_see_here(void **state)
{
	(void)state;
	assert_false(readers_started());
	for (size_t i = 0; i < ARRAY_SIZE(stock); i++)
		see(stock[i], &here[i]);
	assert_true(here[0].probes > 30 && here[2].tables > 0 && here[5].rows > 10000);
}

static void test_see_by_reader(void **state)
{
	struct seen seen;

	(void)state;
	assert_true(readers_started());
	for (size_t i = 0; i < ARRAY_SIZE(stock); i++) {
		see(stock[i], &seen);
		assert_memory_equal(&seen, &here[i], sizeof(seen));
	}
}

int main(void)
{
	/* the first ones fork, which would lose threads that the others start */
	const struct CMUnitTest before[] = {
		cmocka_unit_test(test_tracer_killed),
		cmocka_unit_test(test_unconfined),
		cmocka_unit_test(test_starter_killed),
		cmocka_unit_test(test_see_here),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_see_by_reader),  cmocka_unit_test(test_ends),
		cmocka_unit_test(test_leaves),         cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_takes_long),     cmocka_unit_test(test_lies),
		cmocka_unit_test(test_confined),       cmocka_unit_test(test_long_answers),
		cmocka_unit_test(test_cut_short),      cmocka_unit_test(test_owners),
		cmocka_unit_test(test_many_owners),    cmocka_unit_test(test_opened_at_once),
		cmocka_unit_test(test_one_of_many),    cmocka_unit_test(test_refused_descriptors),
		cmocka_unit_test(test_needed_by_path), cmocka_unit_test(test_descriptors),
	};
	int failed = cmocka_run_group_tests(before, NULL, NULL);

	return failed + cmocka_run_group_tests(tests, begin, NULL);
}
