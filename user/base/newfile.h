/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that this process makes. It may be root's, and write where others may write: a file gets a
 * name that nobody can foresee until it is whole, and no link of another user is followed.
 */
#ifndef UCXBPF_BASE_NEWFILE_H
#define UCXBPF_BASE_NEWFILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether a file or link belongs to neither this process's user, nor root, nor who used sudo. */
bool newfile_foreign(const struct stat *file);

/* Sets the rights of a new file, and gives it to the user behind sudo where root makes it. */
void newfile_hand_over(int fd, mode_t mode);

/* Rights of a new file that needs no more than these: as the umask says, of root's the owner's. */
mode_t newfile_mode(mode_t most);

/*
 * What a path leads to, which is replaced instead of a link; the caller frees it. NULL: the path
 * is another user's link.
 */
char *newfile_place(const char *path);

/*
 * Words for an error of writing a file; -ELOOP stands for newfile_place()'s NULL, -EUSERS for a
 * foreign pipe.
 */
const char *newfile_why(int err);

enum newfile_readers {
	NEWFILE_PRIVATE, /* newfile_mode() decides */
	NEWFILE_PUBLIC, /* everybody, also where root makes it */
};

/*
 * Makes a file beside its place, to be renamed to it; it inherits the rights of the file that it
 * replaces, a new one gets those of its readers. Returns its descriptor, with its path in *part,
 * the caller's to free; on error -errno and NULL.
 */
int newfile_open(const char *place, enum newfile_readers readers, char **part);

/* Likewise a directory. 0 or -errno. */
int newfile_directory(const char *place, char **part);

/*
 * Makes a folder for this process's own files below TMPDIR, or /tmp: its path, the caller's to
 * free. NULL: *err is -errno, or -EUSERS: another user may replace it there, as its owner or
 * through rights of the folder or of one above it.
 */
char *newfile_scratch(const char *name, int *err);

/*
 * Opens a pipe or a device to write. Its descriptor, or -errno; -EUSERS: it is another user's, who
 * may never read it.
 */
int newfile_open_special(const char *place);

/* Makes a file without a name in a folder, to write and to read. Its descriptor, or -errno. */
int newfile_nameless(const char *folder);

#endif
