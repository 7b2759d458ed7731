// SPDX-License-Identifier: BSD-3-Clause
/*
 * faultfs FOLDER MOUNT LOG [ACTION [AT [TIMES]]]: FOLDER as a file system at MOUNT, one call of
 * which has a fault. Counted are calls that change something: open to write, write, truncate,
 * fallocate, fsync, flush (each close), rename, unlink, mkdir, rmdir, link, symlink, chmod, chown.
 * Each is a line in LOG, with * before it where it had the fault.
 *
 *   ACTION  none; an errno as a number; short (a write of the first half); kill (of who calls, by
 *           SIGKILL, before the call has any effect); delay-MS (of each from AT on); hang (reads
 *           are never answered, of each file from its AT-th on); hang-CALL (open, getattr, read or
 *           statfs, once LOG.hang exists); ambush-SECONDS (the first close once LOG.hang exists
 *           drops the file's pages from the page cache, and for SECONDS no read is answered)
 *   AT      the first call with the fault, from 1
 *   TIMES   how many calls (1; 0: all from AT on)
 *
 * Runs in the foreground until it is unmounted. Root.
 */
#define FUSE_USE_VERSION 35

#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <dirent.h>
#include <time.h>
#include <unistd.h>

#define FILES_MOST 1024 /* open at once */

static const char *folder;
static FILE *log_file;
static const char *action = "none";
static char gate[4096];
static unsigned long fault_at, fault_times = 1, calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum fault { FAULT_NONE, FAULT_SHORT };

/* -errno, or an enum fault. */
static int counted(const char *name, const char *path)
{
	unsigned long at;
	bool here;

	pthread_mutex_lock(&lock);
	at = ++calls;
	here = fault_at && at >= fault_at && (!fault_times || at - fault_at < fault_times);
	fprintf(log_file, "%s%s %s\n", here ? "*" : "", name, path);
	fflush(log_file);
	pthread_mutex_unlock(&lock);
	if (!here)
		return FAULT_NONE;
	if (!strcmp(action, "short"))
		return FAULT_SHORT;
	if (!strcmp(action, "kill")) {
		kill(fuse_get_context()->pid, SIGKILL);
		return -EIO;
	}
	if (!strncmp(action, "delay-", 6)) {
		usleep((useconds_t)atol(action + 6) * 1000);
		return FAULT_NONE;
	}
	return -atoi(action);
}

/* Does not return where this call is never answered. */
static void may_hang(const char *call)
{
	const bool named = !strncmp(action, "hang-", 5) && !strcmp(action + 5, call);

	while (named && !access(gate, F_OK))
		pause();
}

/* Likewise, of a read. */
static void may_stop_reads(int fd)
{
	static unsigned long reads[FILES_MOST];

	while (!strcmp(action, "hang") && __atomic_add_fetch(&reads[(unsigned int)fd % FILES_MOST],
							     1, __ATOMIC_RELAXED) >= fault_at)
		pause();
}

static atomic_long answers_at; /* CLOCK_MONOTONIC, s; 0: no ambush yet */

static long seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void may_ambush(const char *path)
{
	if (strncmp(action, "ambush-", 7) || answers_at || access(gate, F_OK))
		return;
	answers_at = seconds_now() + atol(action + 7);
	fuse_invalidate_path(fuse_get_context()->fuse, path);
}

static void await_end_of_ambush(void)
{
	while (seconds_now() < answers_at)
		usleep(10000);
}

static const char *real(const char *path, char out[4096])
{
	snprintf(out, 4096, "%s%s", folder, path);
	return out;
}

#define REAL(path) real(path, (char[4096]){ 0 })
#define RESULT(call) ((call) < 0 ? -errno : 0)

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	may_hang("getattr");
	return RESULT(info ? fstat((int)info->fh, st) : lstat(REAL(path), st));
}

static int fs_open(const char *path, struct fuse_file_info *info)
{
	int err = (info->flags & O_ACCMODE) == O_RDONLY ? 0 : counted("open", path);
	int fd;

	may_hang("open");
	if (err < 0)
		return err;
	fd = open(REAL(path), info->flags & ~O_EXCL);
	info->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
	int err = counted("create", path);
	int fd;

	if (err < 0)
		return err;
	fd = open(REAL(path), info->flags | O_CREAT, mode);
	info->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}

static int fs_read(const char *path, char *data, size_t size, off_t offset,
		   struct fuse_file_info *info)
{
	ssize_t got;

	(void)path;
	may_hang("read");
	may_stop_reads((int)info->fh);
	await_end_of_ambush();
	got = pread((int)info->fh, data, size, offset);
	return got < 0 ? -errno : (int)got;
}

static int fs_write(const char *path, const char *data, size_t size, off_t offset,
		    struct fuse_file_info *info)
{
	int fault = counted("write", path);
	ssize_t got;

	if (fault < 0)
		return fault;
	if (fault == FAULT_SHORT && size > 1)
		size /= 2;
	got = pwrite((int)info->fh, data, size, offset);
	return got < 0 ? -errno : (int)got;
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	int err = counted("truncate", path);

	return err < 0 ? err
		       : RESULT(info ? ftruncate((int)info->fh, size) : truncate(REAL(path), size));
}

static int fs_fallocate(const char *path, int mode, off_t offset, off_t size,
			struct fuse_file_info *info)
{
	int err = counted("fallocate", path);

	return err < 0 ? err : RESULT(fallocate((int)info->fh, mode, offset, size));
}

static int fs_flush(const char *path, struct fuse_file_info *info)
{
	int err = counted("flush", path);

	(void)info;
	may_ambush(path);
	return err < 0 ? err : 0;
}

static int fs_release(const char *path, struct fuse_file_info *info)
{
	(void)path;
	close((int)info->fh);
	return 0;
}

static int fs_fsync(const char *path, int data, struct fuse_file_info *info)
{
	int err = counted("fsync", path);

	(void)data;
	return err < 0 ? err : RESULT(fsync((int)info->fh));
}

static int fs_rename(const char *from, const char *to, unsigned int flags)
{
	int err = counted("rename", to);

	return err < 0 ? err : RESULT(renameat2(AT_FDCWD, REAL(from), AT_FDCWD, REAL(to), flags));
}

static int fs_unlink(const char *path)
{
	int err = counted("unlink", path);

	return err < 0 ? err : RESULT(unlink(REAL(path)));
}

static int fs_mkdir(const char *path, mode_t mode)
{
	int err = counted("mkdir", path);

	return err < 0 ? err : RESULT(mkdir(REAL(path), mode));
}

static int fs_rmdir(const char *path)
{
	int err = counted("rmdir", path);

	return err < 0 ? err : RESULT(rmdir(REAL(path)));
}

static int fs_link(const char *from, const char *to)
{
	int err = counted("link", to);

	return err < 0 ? err : RESULT(link(REAL(from), REAL(to)));
}

static int fs_symlink(const char *target, const char *path)
{
	int err = counted("symlink", path);

	return err < 0 ? err : RESULT(symlink(target, REAL(path)));
}

static int fs_readlink(const char *path, char *target, size_t size)
{
	ssize_t got = readlink(REAL(path), target, size - 1);

	if (got < 0)
		return -errno;
	target[got] = '\0';
	return 0;
}

static int fs_chmod(const char *path, mode_t mode, struct fuse_file_info *info)
{
	int err = counted("chmod", path);

	return err < 0 ? err : RESULT(info ? fchmod((int)info->fh, mode) : chmod(REAL(path), mode));
}

static int fs_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *info)
{
	int err = counted("chown", path);

	return err < 0 ? err
		       : RESULT(info ? fchown((int)info->fh, uid, gid)
				     : lchown(REAL(path), uid, gid));
}

static int fs_statfs(const char *path, struct statvfs *st)
{
	may_hang("statfs");
	return RESULT(statvfs(REAL(path), st));
}

static int fs_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
		      struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	DIR *dir = opendir(REAL(path));
	struct dirent *entry;

	(void)offset;
	(void)info;
	(void)flags;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		fill(buffer, entry->d_name, NULL, 0, 0);
	closedir(dir);
	return 0;
}

/* Nothing is remembered: each call of a program is one here. */
static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->use_ino = 1;
	config->attr_timeout = 0;
	config->entry_timeout = 0;
	config->negative_timeout = 0;
	config->nullpath_ok = 0;
	/* else a file that is unlinked while it is open gets a name */
	config->hard_remove = 1;
	return NULL;
}

static const struct fuse_operations operations = {
	.getattr = fs_getattr,
	.readlink = fs_readlink,
	.mkdir = fs_mkdir,
	.unlink = fs_unlink,
	.rmdir = fs_rmdir,
	.symlink = fs_symlink,
	.rename = fs_rename,
	.link = fs_link,
	.chmod = fs_chmod,
	.chown = fs_chown,
	.truncate = fs_truncate,
	.open = fs_open,
	.read = fs_read,
	.write = fs_write,
	.statfs = fs_statfs,
	.flush = fs_flush,
	.release = fs_release,
	.fsync = fs_fsync,
	.readdir = fs_readdir,
	.init = fs_init,
	.create = fs_create,
	.fallocate = fs_fallocate,
};

int main(int argc, char **argv)
{
	char foreground[] = "-f", one_thread[] = "-s", option[] = "-o";
	char rights[] = "allow_other,default_permissions";
	/* one thread, so that calls have an order, but where one of them never ends */
	char *arguments[] = { argv[0], foreground, one_thread, option, rights, argv[2], NULL };

	if (argc < 4) {
		fprintf(stderr, "usage: faultfs FOLDER MOUNT LOG [ACTION [AT [TIMES]]]\n");
		return 2;
	}
	folder = argv[1];
	log_file = fopen(argv[3], "w");
	if (!log_file) {
		perror(argv[3]);
		return 1;
	}
	if (argc > 4)
		action = argv[4];
	if (argc > 5)
		fault_at = strtoul(argv[5], NULL, 10);
	if (argc > 6)
		fault_times = strtoul(argv[6], NULL, 10);
	snprintf(gate, sizeof(gate), "%s.hang", argv[3]);
	if (!strncmp(action, "hang", 4) || !strncmp(action, "ambush", 6))
		arguments[2] = foreground;
	umask(0);
	return fuse_main(6, arguments, &operations, NULL);
}
