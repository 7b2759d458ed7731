// SPDX-License-Identifier: BSD-3-Clause
/* Small files of /sys and /proc, whose content is not trusted. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <linux/mount.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "site/inventory/internal.h"

/* False: too long, with errno set. */
static bool path_of(char path[LOOK_PATH], const char *format, va_list args)
{
	int length = vsnprintf(path, LOOK_PATH, format, args);

	errno = ENAMETOOLONG;
	return length >= 0 && length < LOOK_PATH;
}

void look_path(char path[LOOK_PATH], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!path_of(path, format, args))
		*path = '\0';
	va_end(args);
}

/* A pipe or device in place of the file must not make us wait. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* Bytes read, at most size; -1: errno says why. */
static ssize_t read_up_to(const char *path, char *buffer, size_t size)
{
	int fd = open_regular(path), error;
	size_t done = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -1;
	while (done < size && (got = read(fd, buffer + done, size - done)) > 0)
		done += (size_t)got;
	error = errno;
	close(fd);
	errno = error;
	return got < 0 ? -1 : (ssize_t)done;
}

static char *trimmed(char *line)
{
	size_t length = strcspn(line, "\n");

	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	line[length] = '\0';
	while (isspace((unsigned char)*line))
		line++;
	return line;
}

static char *line_of(const char *path)
{
	char buffer[LOOK_LINE + 1], *line;
	ssize_t got = read_up_to(path, buffer, LOOK_LINE);

	if (got < 0)
		return NULL;
	buffer[got] = '\0';
	line = trimmed(buffer);
	errno = ENODATA;
	return *line ? text_plain(line) : NULL;
}

char *look_line(const char *format, ...)
{
	char path[LOOK_PATH];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = path_of(path, format, args);
	va_end(args);
	return fits ? line_of(path) : NULL;
}

int64_t look_number(const char *format, ...)
{
	char path[LOOK_PATH], *line = NULL, *end;
	int64_t number = INVENTORY_UNKNOWN;
	va_list args;

	va_start(args, format);
	if (path_of(path, format, args))
		line = line_of(path);
	va_end(args);
	if (!line)
		return INVENTORY_UNKNOWN;
	errno = 0;
	if (isdigit((unsigned char)*line)) {
		number = strtoll(line, &end, 10);
		if (*end || errno)
			number = INVENTORY_UNKNOWN;
	}
	free(line);
	return number;
}

char *look_whole(const char *path, size_t limit, size_t *size)
{
	char *buffer = xmalloc(limit + 1);
	ssize_t got = read_up_to(path, buffer, limit);

	if (got < 0) {
		free(buffer);
		return NULL;
	}
	buffer[got] = '\0';
	*size = (size_t)got;
	return buffer;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

look_names look_folder(const char *format, ...)
{
	look_names names = { 0 };
	char path[LOOK_PATH];
	struct dirent *entry;
	DIR *folder = NULL;
	va_list args;

	va_start(args, format);
	if (path_of(path, format, args))
		folder = opendir(path);
	va_end(args);
	while (folder && names.len < LOOK_ENTRIES && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			vec_push(&names, xstrdup(entry->d_name));
	if (folder)
		closedir(folder);
	if (names.len)
		qsort(names.data, names.len, sizeof(*names.data), by_name);
	return names;
}

void look_release(look_names *names)
{
	for (size_t i = 0; i < names->len; i++)
		free(names->data[i]);
	vec_release(names);
}

char *look_link(const char *format, ...)
{
	char path[LOOK_PATH], target[LOOK_PATH];
	ssize_t length = -1;
	va_list args;
	char *slash;

	va_start(args, format);
	if (path_of(path, format, args))
		length = readlink(path, target, sizeof(target) - 1);
	va_end(args);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	slash = strrchr(target, '/');
	return text_plain(slash ? slash + 1 : target);
}

void look_unknown(struct look *look, const char *why, const char *what, ...)
{
	struct inventory_reason *reason = vec_add(&look->inventory->unknown);
	va_list args;
	char *text;

	va_start(args, what);
	text = xvasprintf(what, args);
	va_end(args);
	reason->what = text_plain(text);
	reason->why = xstrdup(why);
	free(text);
}

/* ---- file systems of our own ---- */

/* By number: the C library has functions for them since glibc 2.36 only, and we run on older ones.
 */

int look_mount(const char *kind)
{
	int context = (int)syscall(SYS_fsopen, kind, FSOPEN_CLOEXEC), mount = -1;

	if (context < 0)
		return -1;
	if (!syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
				     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID |
					     MOUNT_ATTR_NODEV);
	close(context);
	return mount;
}

/* A sysfs shows the network namespace of the process that mounted it: this one may need its own. */

/* Whether sysfs has the interface with that number and that address of its hardware. */
static bool shows(const char *sysfs, const char *name, const struct sockaddr_ll *link)
{
	char *address = look_line("%s/class/net/%s/address", sysfs, name), text[64] = "";
	bool same = look_number("%s/class/net/%s/ifindex", sysfs, name) == link->sll_ifindex;

	for (int i = 0; i < link->sll_halen && i < 8; i++)
		sprintf(text + strlen(text), "%s%02x", i ? ":" : "", link->sll_addr[i]);
	/* this interface truncates InfiniBand addresses */
	same = same && (!address || !strncmp(address, text, strlen(text)));
	free(address);
	return same;
}

/* Beside interfaces there is a file, bonding_masters. */
static size_t interfaces(const char *sysfs)
{
	look_names shown = look_folder("%s/class/net", sysfs);
	size_t count = 0;

	for (size_t i = 0; i < shown.len; i++)
		count += look_number("%s/class/net/%s/ifindex", sysfs, shown.data[i]) > 0;
	look_release(&shown);
	return count;
}

static bool shows_own(const char *sysfs)
{
	struct ifaddrs *all, *at;
	size_t count = 0;
	bool same = true;

	if (getifaddrs(&all))
		return true;
	for (at = all; at; at = at->ifa_next) {
		if (!at->ifa_addr || at->ifa_addr->sa_family != AF_PACKET)
			continue;
		count++;
		same = same && shows(sysfs, at->ifa_name, (struct sockaddr_ll *)at->ifa_addr);
	}
	freeifaddrs(all);
	return same && count == interfaces(sysfs);
}

int collect_own_sysfs(struct look *look)
{
	int mount;

	if (shows_own(look->sysfs))
		return -1;
	mount = look_mount("sysfs");
	if (mount < 0) {
		look->foreign_net = true;
		look_unknown(look, "/sys shows another network namespace; as root it could be read",
			     "nics");
		return -1;
	}
	snprintf(look->sysfs, sizeof(look->sysfs), "/proc/self/fd/%d", mount);
	return mount;
}
