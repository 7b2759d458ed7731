// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads the BPF programs as a capture does, with each link mechanism that works here, and prints
 * what the verifier had to look at (its limit is a million instructions), how large the code is,
 * and how much stack it takes.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/capture/kernel.h"
#include "observe/probe/links.h"

/* Our programs are those that this process holds descriptors of. */
static int is_program(const char *fd)
{
	char path[288], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%s", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	return !strcmp(target, "anon_inode:bpf-prog");
}

#define FUNCTIONS_MAX 64
#define INSNS_MAX 16384

/* A loaded program's instructions, and where its functions begin. */
struct code {
	struct bpf_insn insns[INSNS_MAX];
	struct bpf_func_info functions[FUNCTIONS_MAX];
	uint32_t insn_count, function_count;
};

static bool read_code(int fd, struct code *code)
{
	struct bpf_prog_info info = {
		.xlated_prog_insns = (uintptr_t)code->insns,
		.xlated_prog_len = sizeof(code->insns),
		.func_info = (uintptr_t)code->functions,
		.func_info_rec_size = sizeof(code->functions[0]),
		.nr_func_info = FUNCTIONS_MAX,
	};
	uint32_t size = sizeof(info);

	if (bpf_prog_get_info_by_fd(fd, &info, &size) || !info.xlated_prog_insns)
		return false;
	code->insn_count = info.xlated_prog_len / sizeof(struct bpf_insn);
	code->function_count = info.nr_func_info;
	return code->insn_count <= INSNS_MAX && code->function_count <= FUNCTIONS_MAX;
}

static unsigned int end_of(const struct code *code, unsigned int function)
{
	return function + 1 < code->function_count ? code->functions[function + 1].insn_off
						   : code->insn_count;
}

/* How far below the frame pointer an instruction reaches; copies: registers that hold it. */
static int reach_of(const struct bpf_insn *insn, unsigned int *copies)
{
	const bool is_copy = insn->code == (BPF_ALU64 | BPF_MOV | BPF_X) && insn->src_reg == 10;
	const bool moves =
		insn->code == (BPF_ALU64 | BPF_ADD | BPF_K) && *copies & 1u << insn->dst_reg;
	const unsigned int class = BPF_CLASS(insn->code);

	if (class == BPF_ALU64 || class == BPF_ALU)
		*copies &= ~(1u << insn->dst_reg);
	if (is_copy)
		*copies |= 1u << insn->dst_reg;
	if (moves)
		return -insn->imm;
	if ((class == BPF_LDX && insn->src_reg == 10) ||
	    ((class == BPF_ST || class == BPF_STX) && insn->dst_reg == 10))
		return -insn->off;
	return 0;
}

/*
 * The stack that a function and those that it calls take at most, as Linux 6.1 counts: 512 bytes
 * are the limit there. Newer kernels give some programs more.
 */
static int stack_of(const struct code *code, unsigned int function)
{
	int own = 1, below = 0;
	unsigned int copies = 0;

	for (unsigned int i = code->functions[function].insn_off; i < end_of(code, function); i++) {
		const struct bpf_insn *insn = &code->insns[i];
		const int reach = reach_of(insn, &copies);
		int callee;

		if (reach > own)
			own = reach;
		if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg != BPF_PSEUDO_CALL)
			continue;
		callee = stack_of(code, (unsigned int)insn->imm);
		if (callee > below)
			below = callee;
	}
	return (own + 31) / 32 * 32 + below;
}

/* With count, only the programs that record mode has not. */
static void print_program(const char *mechanism, int fd, bool count)
{
	static struct code code;
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (!bpf_prog_get_info_by_fd(fd, &info, &size) &&
	    count == !strncmp(info.name, "count_", strlen("count_")))
		printf("%-8s %-16s %9u %9u %9u %6d\n", mechanism, info.name, info.verified_insns,
		       info.xlated_prog_len, info.jited_prog_len,
		       read_code(fd, &code) ? stack_of(&code, 0) : -1);
}

static void print_programs(const char *mechanism, bool count)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;

	while (fds && (entry = readdir(fds)))
		if (is_program(entry->d_name))
			print_program(mechanism, atoi(entry->d_name), count);
	if (fds)
		closedir(fds);
}

static int load(enum link_mechanism mechanism, bool count)
{
	struct kernel_options options = {
		.level = LEVEL_UCT,
		.mechanism = mechanism,
		.node = -1,
		.call_ends = !count,
		.count = count,
		.stacks = !count,
		.derive = mechanism != LINK_PERF,
	};
	const char *name = link_mechanism_name(mechanism);
	struct kernel *kernel = NULL;
	int err = kernel_open(&kernel, &options);

	if (err) {
		fprintf(stderr, "%s: %s\n", name, strerror(-err));
		return 1;
	}
	print_programs(name, count);
	kernel_free(kernel);
	return 0;
}

int main(void)
{
	enum link_mechanism best = LINK_NONE;
	int status = links_detect(&best) < 0;

	printf("%-8s %-16s %9s %9s %9s %6s\n", "links", "program", "verified", "bytecode", "code",
	       "stack");
	for (int mechanism = LINK_PERF; mechanism <= (int)best; mechanism++)
		for (int count = 0; count < 2; count++)
			status |= load(mechanism, count);
	return status;
}
