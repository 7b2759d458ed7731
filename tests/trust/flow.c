// SPDX-License-Identifier: BSD-3-Clause
/*
 * R19: flow KIND COUNT: a process that sends to itself, between which control leaves its usual way:
 *
 *   fork       a child that exits
 *   vfork      a child that executes another program
 *   clone      a process with this one's memory, on a stack of its own
 *   thread     a thread that comes and goes, by pthread_exit()
 *   dlopen     an MPI library that is mapped and goes again
 *   coroutine  two contexts that take turns, each of which sends
 *   jump       the receive's callback, which runs within the send, leaves it by a longjmp
 *
 * Prints how many sends returned, and a hash of what was received.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "../progs/ucp_self.h"

#define STACK (256 << 10)

#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "flow: not so: %s\n", #condition);                         \
			_exit(3);                                                                  \
		}                                                                                  \
	} while (0)

static ucp_worker_h worker;
static ucp_ep_h ep;
static uint64_t sent, hash = 14695981039346656037ull, to;
static bool leaves;
static sigjmp_buf out;
static char stack[STACK];

static void arrived(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
	(void)status;
	(void)info;
	(void)arg;
	if (leaves)
		siglongjmp(out, 1);
	hash = (hash ^ to) * 1099511628211ull;
	ucp_request_free(request);
}

static void exchange(void)
{
	const ucp_request_param_t receive = { .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
					      .cb.recv = arrived },
				  send = { 0 };
	uint64_t value = sent;

	NEED(!UCS_PTR_IS_ERR(ucp_tag_recv_nbx(worker, &to, sizeof(to), 1, -1, &receive)));
	NEED(!ucp_tag_send_nbx(ep, &value, sizeof(value), 1, &send));
	sent++;
}

static void await(pid_t child)
{
	int status;

	NEED(child > 0 && waitpid(child, &status, 0) == child && !status);
}

static void by_fork(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	await(child);
}

static void by_vfork(void)
{
	pid_t child = vfork();

	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	await(child);
}

static int cloned(void *arg)
{
	volatile char *room = arg;

	room[0] = 1;
	return 0;
}

static void by_clone(void)
{
	await(clone(cloned, stack + sizeof(stack), CLONE_VM | SIGCHLD, stack));
}

static void *come_and_go(void *arg)
{
	exchange();
	pthread_exit(arg);
}

static void by_thread(void)
{
	pthread_t thread;

	NEED(!pthread_create(&thread, NULL, come_and_go, NULL));
	NEED(!pthread_join(thread, NULL));
}

static void by_dlopen(void)
{
	void *library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL);

	NEED(library && dlsym(library, "MPI_Send"));
	dlclose(library);
}

static ucontext_t main_context, other_context;

static void take_turns(void)
{
	for (;;) {
		exchange();
		swapcontext(&other_context, &main_context);
	}
}

static void by_coroutine(void)
{
	static bool begun;

	if (!begun) {
		NEED(!getcontext(&other_context));
		other_context.uc_stack.ss_sp = stack;
		other_context.uc_stack.ss_size = sizeof(stack);
		makecontext(&other_context, take_turns, 0);
		begun = true;
	}
	swapcontext(&main_context, &other_context);
}

static void by_jump(void)
{
	leaves = true;
	if (!sigsetjmp(out, 0))
		exchange();
	leaves = false;
}

static const struct {
	const char *name;
	void (*once)(void);
} kinds[] = {
	{ "fork", by_fork },     { "vfork", by_vfork },   { "clone", by_clone },
	{ "thread", by_thread }, { "dlopen", by_dlopen }, { "coroutine", by_coroutine },
	{ "jump", by_jump },
};

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	size_t i = 0;

	while (i < sizeof(kinds) / sizeof(*kinds) && strcmp(kinds[i].name, kind) != 0)
		i++;
	if (i == sizeof(kinds) / sizeof(*kinds))
		return 2;
	ucp_self_open(&worker, &ep);
	for (long left = atol(argv[2]); left > 0; left--) {
		exchange();
		kinds[i].once();
	}
	exchange();
	printf("%lu returned, %016lx\n", sent, hash);
	return 0;
}
