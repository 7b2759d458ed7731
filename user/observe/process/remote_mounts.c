// SPDX-License-Identifier: BSD-3-Clause
/*
 * Who mounted the file system of a file. To place a probe the kernel may read the file, and until
 * it has done that no process of the node can fork. A user's server can choose never to answer:
 * neither asking before nor a copy of the pages helps, since it can drop them at any time.
 *
 * Users can mount two file systems that may have such a server: FUSE, and an overlay over it. Its
 * type does not show what an overlay lies on, but it passes one question on: where the extents of a
 * file are. FUSE does not answer that, and file systems on disks do.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "observe/process/remote.h"
#include "observe/process/remote_private.h"

/* A file system that a list of mounts may have. */
struct mount_sought {
	unsigned int mount; /* the file's; 0: not known */
	dev_t dev;
};

static unsigned int mount_of(int fd)
{
	unsigned int mount = 0;
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	while (info && getline(&line, &room, info) > 0)
		if (sscanf(line, "mnt_id: %u", &mount) == 1)
			break;
	free(line);
	if (info)
		fclose(info);
	return mount;
}

/* A line of mountinfo: another mount of the file system will do. Servers run as their user_id. */
static bool is_by_root(const char *line, const struct mount_sought *sought)
{
	const char *options = strrchr(line, ' ');
	const char *user = options ? strstr(options, "user_id=") : NULL;
	unsigned int mount, major_number, minor_number;

	if (!options || sscanf(line, "%u %*u %u:%u", &mount, &major_number, &minor_number) != 3)
		return false;
	if (mount != sought->mount && makedev(major_number, minor_number) != sought->dev)
		return false;
	return !user || !strtoul(user + strlen("user_id="), NULL, 10);
}

static bool lists(int process, const struct mount_sought *sought)
{
	const int fd = openat(process, "mountinfo", O_RDONLY | O_CLOEXEC);
	FILE *mounts = fd < 0 ? NULL : fdopen(fd, "r");
	bool found = false;
	char *line = NULL;
	size_t room = 0;

	while (mounts && !found && getline(&line, &room, mounts) > 0)
		found = is_by_root(line, sought);
	free(line);
	if (mounts)
		fclose(mounts);
	else if (fd >= 0)
		close(fd);
	return found;
}

/*
 * Whether those who may mount in the process's mount namespace are those who may here: else a user
 * is root there. No process without these rights comes back from such a namespace.
 */
static bool mounts_as_here(int process)
{
	const int mounts = openat(process, "ns/mnt", O_RDONLY | O_CLOEXEC);
	const int users = mounts < 0 ? -1 : ioctl(mounts, NS_GET_USERNS);
	struct stat theirs, ours;
	const bool same = users >= 0 && !fstat(users, &theirs) &&
			  !stat("/proc/self/ns/user", &ours) && theirs.st_dev == ours.st_dev &&
			  theirs.st_ino == ours.st_ino;

	if (users >= 0)
		close(users);
	if (mounts >= 0)
		close(mounts);
	return same;
}

static bool has_extents(int file)
{
	struct fiemap extents = { .fm_length = FIEMAP_MAX_OFFSET };
	char path[32];
	bool has;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	has = fd >= 0 && !ioctl(fd, FS_IOC_FIEMAP, &extents);
	if (fd >= 0)
		close(fd);
	return has;
}

int remote_mounted_by_root(int fd, dev_t dev, pid_t pid)
{
	const struct mount_sought sought = { mount_of(fd), dev };
	const int own = open("/proc/self", O_PATH | O_CLOEXEC);
	char path[32];
	int process;
	bool found;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	process = open(path, O_PATH | O_CLOEXEC);
	found = lists(own, &sought) || (lists(process, &sought) && mounts_as_here(process)) ||
		has_extents(fd);
	if (process >= 0)
		close(process);
	close(own);
	/* gone: whose its mounts were is not known */
	return found || process >= 0 ? found : -ESRCH;
}

static long looked_up(struct remote_request *request, void *room)
{
	const int is_roots =
		remote_mounted_by_root(request->fd, request->dev, (pid_t)request->address);

	memcpy(room, &is_roots, sizeof(is_roots));
	return sizeof(is_roots);
}

int remote_is_roots(const struct remote_file *file, pid_t pid)
{
	struct remote_request request = {
		.serve = looked_up,
		.fd = file->fd,
		.address = (uint64_t)pid,
		.size = sizeof(int),
		.dev = file->st.st_dev,
	};
	int is_roots;
	long got;

	if (!file->by_users)
		return 1;
	got = remote_ask(&request, &is_roots);
	return got < 0 ? (int)got : is_roots;
}
