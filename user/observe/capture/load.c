// SPDX-License-Identifier: BSD-3-Clause
/*
 * libbpf calls back before it loads a program. A thread then loads the program, and libbpf an empty
 * one in its place. In the end the empty program's descriptor becomes the real program's, so that
 * all code finds it where libbpf put it.
 */
#include "observe/capture/load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/vec.h"

#define LICENSE "Dual BSD/GPL" /* of all programs in bpf/ */

/* libbpf frees its own copies of all of this. */
struct loaded {
	struct bpf_program *program;
	struct bpf_prog_load_opts options;
	struct bpf_insn *instructions;
	size_t count;
	pthread_t thread;
	int fd; /* or -errno */
};

/* State of the present load_side_by_side(); libbpf has no place to keep it for its callback. */
static bool loading;
static VEC(struct loaded *) all;
static sem_t cpus; /* more threads at a time would take memory only */

static void *copy(const void *from, size_t size)
{
	return from && size ? memcpy(xmalloc(size), from, size) : NULL;
}

static struct loaded *loaded_new(struct bpf_program *program,
				 const struct bpf_prog_load_opts *options)
{
	struct loaded *l = xcalloc(1, sizeof(*l));

	l->program = program;
	l->options = *options;
	/* libbpf sets it after the callback */
	l->options.expected_attach_type = bpf_program__expected_attach_type(program);
	l->options.func_info = copy(options->func_info,
				    (size_t)options->func_info_cnt * options->func_info_rec_size);
	l->options.line_info = copy(options->line_info,
				    (size_t)options->line_info_cnt * options->line_info_rec_size);
	l->count = bpf_program__insn_cnt(program);
	l->instructions = copy(bpf_program__insns(program), l->count * sizeof(*l->instructions));
	return l;
}

static void loaded_free(struct loaded *l)
{
	free((void *)l->options.func_info);
	free((void *)l->options.line_info);
	free(l->instructions);
	free(l);
}

static void *load_one(void *arg)
{
	struct loaded *l = arg;

	while (sem_wait(&cpus) && errno == EINTR)
		;
	l->fd = bpf_prog_load(bpf_program__type(l->program), bpf_program__name(l->program), LICENSE,
			      l->instructions, l->count, &l->options);
	sem_post(&cpus);
	return NULL;
}

/* libbpf calls this when a program is ready to be loaded, and loads the instructions it finds then.
 */
static int hand_over(struct bpf_program *program, struct bpf_prog_load_opts *options, long flags)
{
	static const struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct loaded *l;

	options->prog_flags |= (__u32)flags;
	/* libbpf frees this array of descriptors */
	if (!loading || options->fd_array)
		return 0;
	l = loaded_new(program, options);
	if (pthread_create(&l->thread, NULL, load_one, l)) {
		loaded_free(l);
		return 0;
	}
	vec_push(&all, l);
	options->func_info_cnt = 0;
	options->line_info_cnt = 0;
	return bpf_program__set_insns(program, (struct bpf_insn *)empty, ARRAY_SIZE(empty));
}

void load_prepare(void)
{
	static const struct {
		const char *section;
		long flags;
	} sections[] = {
		{ "uprobe", 0 },
		{ "uprobe.multi", 0 },
		{ "uprobe.multi.s", BPF_F_SLEEPABLE },
	};
	static bool done;
	LIBBPF_OPTS(libbpf_prog_handler_opts, handler, .prog_prepare_load_fn = hand_over);

	for (size_t i = 0; !done && i < ARRAY_SIZE(sections); i++) {
		handler.cookie = sections[i].flags;
		libbpf_register_prog_handler(sections[i].section, BPF_PROG_TYPE_KPROBE, 0,
					     &handler);
	}
	done = true;
}

/* Waits for a program, and gives it the descriptor of the empty one. */
static int finish(struct loaded *l)
{
	int empty = bpf_program__fd(l->program), err;

	pthread_join(l->thread, NULL);
	err = l->fd < 0 ? l->fd : 0;
	if (err)
		log_debug("program %s: %s", bpf_program__name(l->program), strerror(-err));
	else if (empty >= 0 && dup3(l->fd, empty, O_CLOEXEC) < 0)
		err = -errno;
	if (l->fd >= 0)
		close(l->fd);
	return err;
}

int load_side_by_side(struct bpf_object_skeleton *skeleton)
{
	cpu_set_t mine;
	int err;

	sem_init(&cpus, 0, sched_getaffinity(0, sizeof(mine), &mine) ? 1 : CPU_COUNT(&mine));
	loading = true;
	err = bpf_object__load_skeleton(skeleton);
	loading = false;
	for (size_t i = 0; i < all.len; i++) {
		int failed = finish(all.data[i]);

		err = err ? err : failed;
		loaded_free(all.data[i]);
	}
	vec_release(&all);
	sem_destroy(&cpus);
	return err;
}
