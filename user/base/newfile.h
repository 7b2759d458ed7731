/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates files. The process may run as root and write where others may write: a file has an
 * unpredictable name until it is complete, and no link of another user is followed.
 */
#ifndef UCXBPF_BASE_NEWFILE_H
#define UCXBPF_BASE_NEWFILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether the owner is neither this process's user, nor root, nor the user behind sudo. */
bool newfile_foreign(const struct stat *file);

/* Sets the permissions of a new file, and gives it to the user behind sudo if root creates it. */
void newfile_hand_over(int fd, mode_t mode);

/* Permissions of an ordinary new file: by the umask; if root creates it, the owner's only. */
mode_t newfile_mode(mode_t most);

/*
 * The target of a path, which is replaced instead of a link; the caller frees it. NULL: the path is
 * another user's link.
 */
char *newfile_place(const char *path);

/*
 * Text for an error of writing a file; -ELOOP stands for newfile_place()'s NULL, -EUSERS for a
 * foreign pipe.
 */
const char *newfile_why(int err);

enum newfile_readers {
	NEWFILE_PRIVATE, /* newfile_mode() decides */
	NEWFILE_PUBLIC, /* everybody may read it, also if root creates it */
};

/*
 * Creates a file beside its destination, to be renamed to it; it inherits the permissions of the
 * file that it replaces, a new one gets those for its readers. Returns its descriptor, with its
 * path in *part, the caller's to free; on error -errno and NULL.
 */
int newfile_open(const char *place, enum newfile_readers readers, char **part);

/* Likewise a directory. 0 or -errno. */
int newfile_directory(const char *place, char **part);

/*
 * Renames a complete, closed file or directory to its place. A file is put on its disk before, so
 * that a power cut leaves either the old one or the new one there, whole. 0 or -errno.
 */
int newfile_keep(const char *part, const char *place);

/*
 * Makes a folder for this process's own files below TMPDIR, or /tmp: its path, the caller's to
 * free. NULL: *err is -errno, or -EUSERS: another user may replace it there, as its owner or
 * through rights of the folder or of one above it.
 */
char *newfile_scratch(const char *name, int *err);

/*
 * Opens a pipe or a device for writing. Its descriptor, or -errno; -EUSERS: it belongs to another
 * user, who may never read it.
 */
int newfile_open_special(const char *place);

/* Creates an unnamed file in a folder, for writing and reading. Its descriptor, or -errno. */
int newfile_nameless(const char *folder);

#endif
