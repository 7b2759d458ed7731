// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <link.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/links.h"
#include "probe/links_kernel.h"

/* What gets probed; never called. */
__attribute__((noinline, used)) static void guinea_pig(void)
{
	__asm__ volatile("nop");
}

static int find_own_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t vaddr = (uintptr_t)guinea_pig - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && vaddr >= segment->p_vaddr &&
		    vaddr - segment->p_vaddr < segment->p_filesz) {
			*(uint64_t *)arg = vaddr - segment->p_vaddr + segment->p_offset;
			return 1;
		}
	}
	return 0;
}

static int load_empty_program(int attach_type)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = attach_type;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t) "Dual BSD/GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

static int try_mechanism(enum link_mechanism mechanism, uint64_t offset)
{
	static const uint64_t cookie = 1;
	struct link_target target = { "/proc/self/exe", &offset, &cookie, 1 };
	int type = links_attach_type(mechanism, mechanism == LINK_SESSION);
	int prog = load_empty_program(type), fd;

	if (prog < 0)
		return prog;
	fd = mechanism == LINK_PERF ? link_perf(prog, false, &target)
				    : link_multi(prog, type, false, &target);
	close(prog);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int links_detect(enum link_mechanism *best)
{
	uint64_t offset = 0;
	int err = -ENOENT;

	if (!dl_iterate_phdr(find_own_code, &offset)) {
		*best = LINK_NONE;
		return err;
	}
	for (*best = LINK_SESSION; *best != LINK_NONE; --*best) {
		err = try_mechanism(*best, offset);
		if (!err)
			break;
	}
	return err;
}
