// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/remote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/vec.h"
#include "observe/process/remote_private.h"

/* ---- in a helper ---- */

/*
 * Uses what the kernel knows: asks no server, unless the path leads through one or an old file
 * system asks.
 */
static int known(int fd, const char *path, struct stat *st)
{
	struct statx got;

	if (statx(fd, path, (*path ? 0 : AT_EMPTY_PATH) | AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
		  &got))
		return -errno;
	*st = (struct stat){
		.st_dev = makedev(got.stx_dev_major, got.stx_dev_minor),
		.st_ino = got.stx_ino,
		.st_mode = got.stx_mode,
		.st_nlink = got.stx_nlink,
		.st_uid = got.stx_uid,
		.st_size = (off_t)got.stx_size,
		.st_mtim = { got.stx_mtime.tv_sec, got.stx_mtime.tv_nsec },
		.st_ctim = { got.stx_ctime.tv_sec, got.stx_ctime.tv_nsec },
	};
	return 0;
}

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200 /* since Linux 6.6: also where the handle cannot be opened */
#endif

/* The handle of the file below an overlay's file. Two mounts of an image have equal ones. */
static uint64_t below_of(int fd)
{
	struct {
		struct file_handle head;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount;

	if (name_to_handle_at(fd, "", &handle.head, &mount, AT_EMPTY_PATH | AT_HANDLE_FID))
		return 0;
	return XXH3_64bits(handle.head.f_handle, handle.head.handle_bytes);
}

/*
 * Local are file systems without a server that could stop answering. An overlay may lie on any, and
 * an image (squashfs) be a file of any.
 */
static void learn_type(int fd, struct remote_file *file)
{
	static const unsigned int local[] = {
		BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC,
		RAMFS_MAGIC,       TMPFS_MAGIC,      XFS_SUPER_MAGIC,
	};
	struct statfs fs;
	const bool typed = !fstatfs(fd, &fs);

	file->by_users =
		!typed || fs.f_type == FUSE_SUPER_MAGIC || fs.f_type == OVERLAYFS_SUPER_MAGIC;
	file->below = typed && fs.f_type == OVERLAYFS_SUPER_MAGIC ? below_of(fd) : 0;
	file->local = false;
	for (size_t i = 0; typed && i < ARRAY_SIZE(local); i++)
		file->local |= (unsigned int)fs.f_type == local[i];
}

/* 0, or -ETIME: the file's file system is not to be asked for more. */
static int note_dev(struct remote_request *request, const struct stat *st)
{
	__atomic_store_n(&request->dev, st->st_dev, __ATOMIC_RELEASE);
	return remote_is_shunned(request, st->st_dev) ? -ETIME : 0;
}

/* Most files in a job's folders are no libraries. */
static int check_beginning(int fd)
{
	char begins[SELFMAG];
	const ssize_t got = pread(fd, begins, sizeof(begins), 0);

	if (got < 0)
		return -errno;
	return got == SELFMAG && !memcmp(begins, ELFMAG, SELFMAG) ? 0 : -ENOEXEC;
}

#define HOLES_MAX (64 << 20)
#define HOLE_LEAST 4096

/*
 * A reader that looks through a table gets a page for each part of a hole, which tmpfs keeps, and
 * counts as the tracer's: a file of 1 TiB costs its owner nothing. A file system that does not show
 * its holes passes, as does a server that answers nonsense.
 */
static bool is_hollow(int fd, off_t size)
{
	off_t holes = 0, at = 0;
	int left = HOLES_MAX / HOLE_LEAST;

	while (size > HOLES_MAX && at < size && left--) {
		const off_t hole = lseek(fd, at, SEEK_HOLE);

		if (hole < at || hole >= size)
			break;
		at = lseek(fd, hole, SEEK_DATA);
		if (at < 0)
			at = size;
		if (at <= hole)
			break;
		holes += at - hole;
	}
	return holes > HOLES_MAX || left < 0;
}

#define IMAGE_MAX (64u << 20) /* larger files are read in parts, where they are needed */
#define IMAGE_PART (1u << 20)

/*
 * Copies the file, so that no server has to answer from then on. room: for a part. Returns the
 * copy, or -errno.
 */
static int copy_file(struct remote_request *request, int fd, char *room, struct stat *st)
{
	const int image = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	off_t done = 0;
	ssize_t got = 1;
	int err = image < 0 ? -errno : 0;

	while (!err && done < st->st_size && got) {
		got = pread(fd, room, IMAGE_PART, done);
		if (got < 0)
			err = -errno;
		else if (got && pwrite(image, room, (size_t)got, done) != got)
			err = -ENOMEM;
		done += got;
		__atomic_add_fetch(&request->moved, 1, __ATOMIC_RELEASE);
	}
	st->st_size = done; /* it may have been cut short, or grown, meanwhile */
	/* the descriptor is open for writing, and a reader will get it */
	if (!err && fcntl(image, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW))
		err = -errno;
	if (err && image >= 0)
		close(image);
	return err ? err : image;
}

/*
 * A server that delays reads of a large file, or its closing, would delay the process that holds
 * it.
 */
static int check_size(int fd, const struct remote_request *request, const struct remote_file *file)
{
	int pid = 0;

	if (file->st.st_size <= IMAGE_MAX || !file->by_users)
		return 0;
	if (request->joined) /* root there is no root here */
		return -EMEDIUMTYPE;
	sscanf(request->path, "/proc/%d/", &pid);
	return remote_mounted_by_root(fd, file->st.st_dev, pid) > 0 ? 0 : -EMEDIUMTYPE;
}

/*
 * The answer has the open file, or where a server might stop answering, the file alone and a copy:
 * closing a file on FUSE asks its server.
 */
static long read_opened(struct remote_request *request, struct remote_file *file)
{
	const int fd = request->left;
	int err = fstat(fd, &file->st) ? -errno : 0;
	int image = -1;

	learn_type(fd, file);
	if (!err)
		err = check_beginning(fd);
	if (!err && is_hollow(fd, file->st.st_size))
		err = -EFBIG;
	if (!err)
		err = check_size(fd, request, file);
	if (!err && !file->local && file->st.st_size <= IMAGE_MAX) {
		image = copy_file(request, fd, (char *)(file + 1), &file->st);
		err = image < 0 ? image : 0;
	}
	if (err && file->local) {
		close(fd);
		request->left = -1;
	}
	if (err)
		return err;
	request->fds[0] = image < 0 ? fd : dup(request->pin);
	request->fds[1] = image;
	request->fd_count = image < 0 ? 1 : 2;
	if (file->local)
		request->left = -1;
	return sizeof(*file);
}

static long opened(struct remote_request *request, void *room)
{
	struct remote_file *file = room;
	char path[32];
	int err;

	/* its type is checked before it is opened; only this namespace finds files of map_files */
	if (request->pin < 0)
		request->pin = open(request->path, O_PATH | O_CLOEXEC);
	if (request->pin < 0)
		return -errno;
	err = known(request->pin, "", &file->st);

	if (!err && !S_ISREG(file->st.st_mode))
		err = -ENOEXEC;
	if (!err)
		err = note_dev(request, &file->st);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", request->pin);
	request->left = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return request->left < 0 ? -errno : read_opened(request, file);
}

static long looked_at(struct remote_request *request, void *room)
{
	const int err = known(AT_FDCWD, request->path, room);

	return err ? err : (long)sizeof(struct stat);
}

static long looked_through(struct remote_request *request, void *room)
{
	const int err = known(request->fd, "", room);

	return err ? err : (long)sizeof(struct stat);
}

static long globbed(struct remote_request *request, void *room)
{
	size_t size = 0;
	glob_t found;

	if (glob(request->path, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const size_t length = strlen(found.gl_pathv[i]) + 1;

		if (length > request->size - size)
			break;
		memcpy((char *)room + size, found.gl_pathv[i], length);
		size += length;
	}
	globfree(&found);
	return (long)size;
}

static long resolved(struct remote_request *request, void *room)
{
	return realpath(request->path, room) ? (long)strlen(room) + 1 : -errno;
}

static long part_read(struct remote_request *request, void *room)
{
	ssize_t got = pread(request->fd, room, request->size, (off_t)request->address);

	return got < 0 ? -errno : got;
}

static long memory_read(struct remote_request *request, void *room)
{
	struct iovec local = { room, request->size };
	struct iovec remote = { (void *)(uintptr_t)request->address, request->size };
	ssize_t got = process_vm_readv(request->pid, &local, 1, &remote, 1, 0);

	return got < 0 ? -errno : got;
}

static long read_whole(const char *path, void *to, size_t size, int *left)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = 1;
	size_t done = 0;
	int error;

	if (fd < 0)
		return -errno;
	while (done < size && (got = read(fd, (char *)to + done, size - done)) > 0)
		done += (size_t)got;
	error = errno;
	*left = fd;
	return got < 0 ? -error : (long)done;
}

/* The kernel's page that is mapped there, by its number; 0: unknown. */
static uint64_t frame_of(const void *page)
{
	const uint64_t present = 1ull << 63, number = (1ull << 55) - 1;
	const int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	const off_t at = (off_t)((uintptr_t)page / (uintptr_t)getpagesize() * sizeof(uint64_t));
	uint64_t entry = 0;

	if (pread(pages, &entry, sizeof(entry), at) != sizeof(entry) || !(entry & present))
		entry = 0;
	close(pages);
	return entry & number;
}

/* NULL: its first page cannot be read. */
static const void *map_beginning(const char *path, int *fd)
{
	void *page;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, 1, PROT_READ, MAP_SHARED, *fd, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, 1, MADV_POPULATE_READ)) {
		munmap(page, 1);
		return NULL;
	}
	return page;
}

static void unmap_beginning(const void *page, int fd)
{
	if (page)
		munmap((void *)(uintptr_t)page, 1);
	if (fd >= 0)
		close(fd);
}

static long compared(struct remote_request *request, void *room)
{
	int fds[2];
	char path[32];
	const void *first = map_beginning(request->path, &fds[0]), *second;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", request->fd);
	second = map_beginning(path, &fds[1]);
	*(bool *)room = first && second && frame_of(first) && frame_of(first) == frame_of(second);
	unmap_beginning(first, fds[0]);
	unmap_beginning(second, fds[1]);
	return sizeof(bool);
}

static long process_file_read(struct remote_request *request, void *room)
{
	char path[64];
	long got;

	snprintf(path, sizeof(path), "/proc/%d/%s", request->pid, request->name);
	got = read_whole(path, room, request->size, &request->left);
	/* closing any other file asks nobody: they are the kernel's own */
	if (request->left >= 0 && strcmp(request->name, "exe")) {
		close(request->left);
		request->left = -1;
	}
	return got;
}

static long text_read(struct remote_request *request, void *room)
{
	struct stat st;
	int err = known(AT_FDCWD, request->path, &st);

	if (!err)
		err = note_dev(request, &st);
	if (err)
		return err;
	return S_ISREG(st.st_mode) ? read_whole(request->path, room, request->size, &request->left)
				   : -EINVAL;
}

/* ---- in the process that asks ---- */

long remote_read_memory(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	struct remote_request request = {
		.serve = memory_read, .pid = pid, .fd = -1, .address = address, .size = size
	};

	return remote_ask(&request, buffer);
}

/*
 * Files of /proc whose content lies in the process's memory or in its program's file, and maps, for
 * which the kernel takes the lock of that memory. The kernel makes the other files itself.
 */
static bool may_be_delayed(const char *name)
{
	static const char *const names[] = { "cmdline", "environ", "exe", "maps" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

long remote_read_file(pid_t pid, const char *name, void *buffer, size_t size)
{
	struct remote_request request = {
		.serve = process_file_read, .pid = pid, .fd = -1, .size = size
	};
	char path[64];
	long result;
	int left = -1;

	if (may_be_delayed(name)) {
		snprintf(request.name, sizeof(request.name), "%s", name);
		return remote_ask(&request, buffer);
	}
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	result = read_whole(path, buffer, size, &left);
	if (left >= 0)
		close(left);
	return result;
}

/* Asks for a path. -ENAMETOOLONG, or the answer. */
static long ask_for_path(struct remote_request *request, const char *path, void *buffer)
{
	static const char own[] = "/proc/self/";
	int length;

	if (strncmp(path, own, strlen(own)))
		length = snprintf(request->path, sizeof(request->path), "%s", path);
	else
		length = snprintf(request->path, sizeof(request->path), "/proc/%d/%s", getpid(),
				  path + strlen(own));
	if ((size_t)length >= sizeof(request->path))
		return -ENAMETOOLONG;
	return remote_ask(request, buffer);
}

int remote_stat(const char *path, struct stat *st)
{
	struct remote_request request = { .serve = looked_at, .fd = -1, .size = sizeof(*st) };
	long got = ask_for_path(&request, path, st);

	return got < 0 ? (int)got : 0;
}

int remote_open(const char *path, struct remote_file *file)
{
	struct remote_request request = { .serve = opened, .fd = -1, .size = sizeof(*file) };
	long got = ask_for_path(&request, path, file);

	file->fd = file->image = -1;
	if (got < 0)
		return (int)got;
	file->fd = request.fds[0];
	if (request.fd_count > 1)
		file->image = request.fds[1];
	return 0;
}

bool remote_is_same(const struct remote_file *file, const struct remote_file *other)
{
	struct remote_request request = {
		.serve = compared, .fd = file->fd, .size = sizeof(bool), .dev = file->st.st_dev
	};
	char path[32];
	bool same;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", other->fd);
	return ask_for_path(&request, path, &same) == sizeof(same) && same;
}

void remote_close(const struct remote_file *file)
{
	if (file->image >= 0)
		close(file->image);
	if (file->fd >= 0)
		close(file->fd);
}

int remote_look(const struct remote_file *file, struct stat *st)
{
	struct remote_request request = {
		.serve = looked_through,
		.fd = file->fd,
		.size = sizeof(*st),
		.dev = file->st.st_dev,
	};
	long got = file->local ? known(file->fd, "", st) : remote_ask(&request, st);

	return got < 0 ? (int)got : 0;
}

long remote_pread(const struct remote_file *file, void *buffer, size_t size, uint64_t offset)
{
	struct remote_request request = {
		.serve = part_read,
		.fd = file->image < 0 ? file->fd : file->image,
		.address = offset,
		.size = size,
		.dev = file->st.st_dev,
	};

	return file->local || file->image >= 0 ? part_read(&request, buffer)
					       : remote_ask(&request, buffer);
}

long remote_read_text(const char *path, char *text, size_t size)
{
	struct remote_request request = { .serve = text_read, .fd = -1, .size = size };

	return ask_for_path(&request, path, text);
}

long remote_glob(const char *pattern, char *names, size_t size)
{
	struct remote_request request = { .serve = globbed, .fd = -1, .size = size };

	return ask_for_path(&request, pattern, names);
}

int remote_realpath(const char *path, char *real)
{
	struct remote_request request = { .serve = resolved, .fd = -1, .size = PATH_MAX };
	long got = ask_for_path(&request, path, real);

	return got < 0 ? (int)got : 0;
}
