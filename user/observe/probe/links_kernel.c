// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes links by bare system calls: libbpf 1.4 supports neither session links, nor multi links by
 * offset for a program that it did not open.
 */
#include "observe/probe/links_kernel.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UPROBE_PMU "/sys/bus/event_source/devices/uprobe/"
#define MULTI_RETURN 1 /* BPF_F_UPROBE_MULTI_RETURN */

/* union bpf_attr, link_create: the part that uprobe links use, as in Linux 6.6 */
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	union {
		struct {
			uint64_t path, offsets, ref_ctr_offsets, cookies;
			uint32_t count, flags, pid, pad;
		} multi;
		struct {
			uint64_t cookie;
		} perf;
	};
};

static int link_create(struct link_create *attr, size_t size)
{
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, attr, size);

	return fd < 0 ? -errno : fd;
}

int link_multi(int prog_fd, int attach_type, bool at_return, const struct link_target *target)
{
	struct link_create attr = {
		.prog_fd = prog_fd,
		.attach_type = attach_type,
		.multi = {
			.path = (uintptr_t)target->path,
			.offsets = (uintptr_t)target->offsets,
			.cookies = (uintptr_t)target->cookies,
			.count = target->count,
			.flags = at_return ? MULTI_RETURN : 0,
			.pid = (uint32_t)target->pid,
		},
	};

	return link_create(&attr, sizeof(attr));
}

/* A kernel with the fix checks the pid before it looks at the path. */
bool link_multi_knows_processes(int prog_fd, int attach_type)
{
	static const uint64_t nothing;
	const struct link_target nowhere = { "/", &nothing, &nothing, 1, -1 };
	const int fd = link_multi(prog_fd, attach_type, false, &nowhere);

	if (fd >= 0)
		close(fd);
	return fd == -EINVAL;
}

static int read_number(const char *path, const char *format, unsigned int *number)
{
	FILE *file = fopen(path, "re");
	int found;

	if (!file)
		return -errno;
	found = fscanf(file, format, number);
	fclose(file);
	return found == 1 ? 0 : -EINVAL;
}

static int open_event(bool at_return, const struct link_target *target)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	unsigned int type, return_bit;
	int err, fd;

	err = read_number(UPROBE_PMU "type", "%u", &type);
	if (!err)
		err = read_number(UPROBE_PMU "format/retprobe", "config:%u", &return_bit);
	if (err)
		return err;
	attr.type = type;
	attr.config = at_return ? 1ull << return_bit : 0;
	attr.config1 = (uintptr_t)target->path;
	attr.config2 = target->offsets[0];
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int link_perf(int prog_fd, bool at_return, const struct link_target *target)
{
	struct link_create attr = { .prog_fd = prog_fd, .attach_type = ATTACH_PERF_EVENT };
	int event, fd;

	if (target->count != 1)
		return -E2BIG;
	event = open_event(at_return, target);
	if (event < 0)
		return event;
	attr.target_fd = event;
	attr.perf.cookie = target->cookies[0];
	fd = link_create(&attr, offsetof(struct link_create, perf) + sizeof(attr.perf));
	if (fd >= 0 && ioctl(event, PERF_EVENT_IOC_ENABLE, 0)) {
		int err = -errno;

		close(fd);
		fd = err;
	}
	/* the link keeps the event */
	close(event);
	return fd;
}
