// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/order.h"
#include "base/shape.h"
#include "base/vec.h"
#include "observe/process/remote.h"

static int plain_error(int error)
{
	return error == ENOENT ? -ESRCH : error == EPERM ? -EACCES : -error;
}

long proc_read(pid_t pid, const char *name, void *buffer, size_t size)
{
	long got = remote_read_file(pid, name, buffer, size);

	return got < 0 ? plain_error((int)-got) : got;
}

long proc_status_number(pid_t pid, const char *label)
{
	char text[4096], wanted[32];
	long got = proc_read(pid, "status", text, sizeof(text) - 1);
	const char *at;

	if (got < 0)
		return got;
	text[got] = '\0';
	snprintf(wanted, sizeof(wanted), "\n%s", label);
	at = strstr(text, wanted);
	return at ? strtol(at + strlen(wanted), NULL, 10) : -ENOENT;
}

#define PF_EXITING 0x4u /* kernel, include/linux/sched.h */

int proc_stat(pid_t pid, pid_t tid, struct proc_stat *stat)
{
	char path[64] = "stat", text[1024];
	const char *name, *behind;
	unsigned long long ticks;
	unsigned int flags;
	long got;

	if (tid)
		snprintf(path, sizeof(path), "task/%d/stat", tid);
	got = proc_read(pid, path, text, sizeof(text) - 1);
	if (got < 0)
		return (int)got;
	text[got] = '\0';
	*stat = (struct proc_stat){ 0 };
	name = strchr(text, '(');
	behind = strrchr(text, ')');
	/* fields 3, 9, 22 and 28 */
	if (!name || !behind ||
	    sscanf(behind + 1,
		   " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d"
		   " %*d %*d %*d %*d %llu %*u %*d %*u %*u %*u %" SCNu64,
		   &stat->state, &flags, &ticks, &stat->start_stack) != 4)
		return -ESRCH;
	stat->exiting = flags & PF_EXITING;
	snprintf(stat->comm, sizeof(stat->comm), "%.*s", (int)(behind - name - 1), name + 1);
	stat->start_time = ticks * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
	return 0;
}

int proc_threads(pid_t pid, int (*fn)(void *arg, pid_t tid), void *arg)
{
	const struct dirent *entry;
	char path[32];
	DIR *tasks;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -ESRCH;
	while (!ret && (entry = readdir(tasks))) {
		const pid_t tid = atoi(entry->d_name);

		if (tid > 0)
			ret = fn(arg, tid);
	}
	closedir(tasks);
	return ret;
}

long proc_read_memory(pid_t pid, unsigned long long address, void *buffer, size_t size)
{
	long got = remote_read_memory(pid, address, buffer, size);

	if (got >= 0)
		return got;
	return got == -EFAULT ? 0 : plain_error((int)-got);
}

struct mappings {
	pid_t pid; /* 0: none */
	char *text; /* of /proc/PID/maps, cut into lines and paths */
	VEC(struct mapping) all;
};

/* The list that process_maps_hold() has read. */
static __thread struct mappings held;

static bool number(const char **at, int base, char behind, uint64_t *value)
{
	char *end;

	*value = strtoull(*at, &end, base);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE    PATH" */
static bool parse(const char *line, struct mapping *mapping)
{
	uint64_t major_number, minor_number, ino;
	const char *flags;
	char *end;

	if (!number(&line, 16, '-', &mapping->start) || !number(&line, 16, ' ', &mapping->end) ||
	    strnlen(line, 5) < 5 || line[4] != ' ')
		return false;
	flags = line;
	line += 5;
	if (!number(&line, 16, ' ', &mapping->offset) || !number(&line, 16, ':', &major_number) ||
	    !number(&line, 16, ' ', &minor_number))
		return false;
	ino = strtoull(line, &end, 10);
	if (end == line)
		return false;
	mapping->readable = flags[0] == 'r';
	mapping->writable = flags[1] == 'w';
	mapping->executable = flags[2] == 'x';
	mapping->dev = makedev((unsigned int)major_number, (unsigned int)minor_number);
	mapping->ino = ino;
	mapping->path = end + strspn(end, " ");
	return true;
}

/* Reads the whole file, with more room each time until it fits; the caller frees *text. */
static int read_all(pid_t pid, const char *name, char **text)
{
	for (size_t room = 256 << 10;; room *= 2) {
		char *more = realloc(*text, room);
		long got;

		if (!more)
			return -ENOMEM;
		*text = more;
		got = proc_read(pid, name, more, room - 1);
		if (got < 0)
			return (int)got;
		more[got] = '\0';
		if ((size_t)got < room - 1)
			return 0;
	}
}

static void mappings_release(struct mappings *mappings)
{
	vec_release(&mappings->all);
	free(mappings->text);
	*mappings = (struct mappings){ 0 };
}

static int mappings_read(struct mappings *mappings, pid_t pid)
{
	int err = read_all(pid, "maps", &mappings->text);
	struct mapping mapping;
	char *rest, *line;

	rest = mappings->text;
	while (!err && (line = strsep(&rest, "\n")))
		if (parse(line, &mapping))
			vec_push(&mappings->all, mapping);
	/* a process that has exited has no mappings left */
	if (!err && !mappings->all.len)
		err = -ESRCH;
	mappings->pid = pid;
	if (err)
		mappings_release(mappings);
	return err;
}

bool process_maps_hold(pid_t pid)
{
	if (held.pid)
		return false;
	mappings_read(&held, pid);
	return true;
}

void process_maps_drop(void)
{
	mappings_release(&held);
}

int process_each_mapping(pid_t pid, int (*fn)(void *arg, const struct mapping *mapping), void *arg)
{
	struct mappings own = { 0 };
	const struct mappings *mappings = held.pid == pid ? &held : &own;
	int stop = mappings == &own ? mappings_read(&own, pid) : 0;

	for (size_t i = 0; !stop && i < mappings->all.len; i++)
		stop = fn(arg, &mappings->all.data[i]);
	mappings_release(&own);
	return stop;
}

static bool same_mapping(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->dev == b->dev && a->ino == b->ino;
}

/* Uses the list as it is now, not the one that is held. */
static bool is_mapped_still(pid_t pid, const struct mapping *mapping)
{
	struct mappings now = { 0 };
	bool found = false;

	if (!mappings_read(&now, pid))
		for (size_t i = 0; i < now.all.len && !found; i++)
			found = same_mapping(&now.all.data[i], mapping);
	mappings_release(&now);
	return found;
}

void mapping_path(pid_t pid, const struct mapping *mapping, char *path)
{
	snprintf(path, PATH_MAX, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
}

int mapping_open(pid_t pid, const struct mapping *mapping, struct remote_file *file)
{
	char path[PATH_MAX];
	bool same;
	int err;

	mapping_path(pid, mapping, path);
	err = remote_open(path, file);
	if (err == -ETIME || err == -EFBIG)
		return err;
	if (!err) {
		same = file->st.st_ino == mapping->ino || is_mapped_still(pid, mapping);
	} else {
		snprintf(path, sizeof(path), "/proc/%d/root%s", pid, mapping->path);
		err = remote_open(path, file);
		same = file->st.st_dev == mapping->dev && file->st.st_ino == mapping->ino;
	}
	if (err || same)
		return err;
	remote_close(file);
	file->fd = -1;
	return -ESTALE;
}

/* Prefixes of paths whose mappings are no plain host memory; the first match counts. */
static const struct {
	const char *path;
	enum map_class class;
} known[] = {
	{ "/dev/nvidia-uvm-tools", MAP_OTHER },
	{ "/dev/nvidia-uvm", MAP_MANAGED },
	{ "/dev/nvidiactl", MAP_PINNED },
	{ "/dev/zero", MAP_HOST },
	{ "/dev/shm/", MAP_HOST },
	{ "/dev/", MAP_OTHER },
	{ "[v", MAP_OTHER }, /* vdso, vvar, vsyscall: the kernel's */
	{ "anon_inode:", MAP_OTHER },
};

enum map_class mapping_class(const struct mapping *mapping)
{
	bool accessible = mapping->readable || mapping->writable;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strncmp(mapping->path, known[i].path, strlen(known[i].path)))
			return known[i].class;
	if (accessible)
		return MAP_HOST;
	return *mapping->path || mapping->executable ? MAP_OTHER : MAP_RESERVED;
}

static int add_range(void *arg, const struct mapping *mapping)
{
	struct memory_map *map = arg;
	enum map_class class = mapping_class(mapping);
	struct map_range *last = map->ranges.len ? &map->ranges.data[map->ranges.len - 1] : NULL;

	if (last && last->end == mapping->start && last->class == class)
		last->end = mapping->end;
	else
		vec_push(&map->ranges, ((struct map_range){ mapping->start, mapping->end, class }));
	return 0;
}

int memory_map_read(struct memory_map *map, pid_t pid)
{
	map->ranges.len = 0;
	return process_each_mapping(pid, add_range, map);
}

void memory_map_release(struct memory_map *map)
{
	vec_release(&map->ranges);
}

enum map_class memory_map_find(const struct memory_map *map, uint64_t address)
{
	size_t i = search_count(map->ranges.len, at, map->ranges.data[at].end <= address);

	if (i < map->ranges.len && map->ranges.data[i].start <= address)
		return map->ranges.data[i].class;
	return MAP_NONE;
}

json_t *memory_map_json(const struct memory_map *map)
{
	static const char *const names[MAP_CLASSES] = {
		[MAP_HOST] = "host",         [MAP_MANAGED] = "managed", [MAP_PINNED] = "pinned",
		[MAP_RESERVED] = "reserved", [MAP_OTHER] = "other",
	};
	json_t *list = json_array();

	for (size_t i = 0; i < map->ranges.len; i++) {
		const struct map_range *range = &map->ranges.data[i];

		json_array_append_new(list, json_pack("[o, o, s]", json_hex(range->start),
						      json_hex(range->end), names[range->class]));
	}
	return list;
}
