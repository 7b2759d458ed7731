/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that matter to a trace, recognised by their exports, never by name; one struct
 * library per file (device and inode), however many processes map it.
 */
#ifndef UCXBPF_PROCESS_LIBRARY_H
#define UCXBPF_PROCESS_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/library_role.h"
#include "base/map.h"
#include "base/vec.h"
#include "observe/process/elf.h"
#include "observe/process/proc.h"

enum mpi_kind { MPI_NONE, MPI_OPEN_MPI, MPI_MPICH, MPI_OTHER };

struct layout; /* layout.h */

struct library {
	dev_t dev; /* from stat(2), which mappings need not agree with */
	ino_t ino;
	char *path; /* as its process sees it */
	char *open_path; /* as we can open it as long as this struct lives: /proc/self/fd/N */
	struct elf *elf;
	unsigned int roles; /* enum library_role */
	enum mpi_kind mpi;
	char mpi_version[64]; /* "Open MPI 4.1.4"; "" where not known */
	unsigned int version[3]; /* UCX, for LIB_UCP; 0.0.0 = not known */
	unsigned int request_size; /* sizeof(ucp_request_t) found in the code, 0 = not found */
	const struct layout *layout; /* NULL: unknown build, no private field is read */
	const struct elf_ops_table *ops; /* see library_ops() */
	int ops_count;
	struct map programs; /* that use this MPI: (dev, ino) -> index in program_elfs + 1 */
	VEC(struct elf *) program_elfs;
	VEC(int) aliases; /* the file on other overlays: open, so that their numbers stay theirs */
	bool by_user; /* without probes, since a user has mounted its file system */
	bool rewritten; /* in place, since it was opened: no longer what the file contains */
	int layout_slot; /* slot of the BPF layout map, 0 = none; set by the owner of that map */
};

/* One mapping of a library in one process. */
struct mapped_library {
	struct library *library;
	uint64_t
		base; /* address of link-time address 0: address of a function = base + its vaddr */
};

struct library_set {
	VEC(struct library *) all;
	struct map known; /* (dev, ino), of mappings or stat(2): the struct library * */
	struct map below; /* remote_file.below: the last library of a file on an overlay */
	/* files that do not matter, by path as well, since numbers are reused: until when */
	struct map ignored;
};

void library_set_release(struct library_set *set);

/* The library known by these numbers, NULL: none. */
struct library *library_set_find(const struct library_set *set, dev_t dev, ino_t ino);

/*
 * The library that a process has mapped there. On btrfs the files of all subvolumes have one device
 * in mappings, and two of them may have one inode number: NULL if the mapping is of another file
 * than that which is known by these numbers.
 */
struct library *library_set_mapped(const struct library_set *set, pid_t pid,
				   const struct mapping *mapping);

/* One number for a file, as a key of maps. */
uint64_t file_key(dev_t dev, ino_t ino);
uint64_t library_key(const struct library *library);

/* Whether the file is unlinked, so that no process can map it any more. */
bool library_is_deleted(const struct library *library);

/* Whether the file's content is, or may be, another one than that which was opened. */
bool library_is_rewritten(const struct library *library);

/*
 * Marks the libraries whose keys are in the map as rewritten: their files are read anew where they
 * are found next. Processes may still refer to them.
 */
void library_set_rewritten(struct library_set *set, const struct map *keys);

/* Frees rewritten libraries whose addresses are not in the map. */
void library_set_forget_rewritten(struct library_set *set, const struct map *used);

/* Frees the libraries whose keys are in the map. */
void library_set_forget(struct library_set *set, const struct map *keys);

/*
 * Whether the mapping has no file, or one that was examined and does not matter, or one whose
 * server did not answer within the last minute.
 */
bool library_set_ignores(const struct library_set *set, const struct mapping *mapping);

/*
 * The library behind (dev, ino), opened through open_path if it is new. NULL with *error 0: a file
 * that does not matter (remembered, so that it is rarely opened again); NULL with *error < 0: it
 * could not be read. On some file systems (btrfs, layers of overlayfs) a mapping's device is not
 * the one that stat(2) reports. Both lead to the same library, since two would be probed twice.
 */
struct library *library_set_get(struct library_set *set, dev_t dev, ino_t ino, const char *path,
				const char *open_path, int *error);

/* The tables of operations of a library with LIB_UCT or LIB_UCT_MODULE; returns how many. Found
 * once. */
int library_ops(struct library *library, const struct elf_ops_table **tables);

typedef VEC(struct mapped_library) mapped_libraries;

/*
 * Lists the libraries (and parts of a static executable) that pid maps executable now. -ESRCH:
 * gone; -EACCES: not allowed; -EOPNOTSUPP: 32-bit process.
 */
int process_libraries(pid_t pid, struct library_set *set, mapped_libraries *out);

/* enum library_role bits; 0 = does not matter to a trace. */
unsigned int elf_roles(const struct elf *elf);

/*
 * Which MPI this library is, and its release ("Open MPI 4.1.4") or "". Open MPI 4.1 and 5.0 carry
 * ompi_version_string, MPICH 4.0 to 4.3 MPII_Version_string, older MPICH MPIR_Version_string.
 * Debian 13's MPICH 4.2.1 exports none of these: "MPICH", with the release if just one text is one.
 */
enum mpi_kind elf_mpi_kind(const struct elf *elf, char *version, size_t size);

/*
 * The libucp whose layout holds for requests found in this library: itself, or the one in the same
 * directory, or in the directory above (modules are in LIBDIR/ucx), or the only one that the
 * process maps. NULL: no libucp, or several of which none is near.
 */
const struct library *library_owner_ucp(const mapped_libraries *mapped,
					const struct library *library);

/*
 * The runtime of user-level threads that a library contains or needs ("Argobots"), also through
 * libraries in its directory; NULL = none. Reads files, no process. Such runtimes switch stacks
 * inside a call, and the kernel takes a return probe's frame on another stack for one that was
 * left: the return on the first stack then kills the program with SIGILL (seen on 6.18). MPICH is
 * built over Argobots or Qthreads (--with-thread-package), Open MPI 5 as well (--with-threads),
 * AMPI over Charm++'s threads.
 */
const char *user_threads_of(const struct library *library);

/* The runtime among the mapped libraries, NULL = none. */
const char *user_threads_mapped(const mapped_libraries *mapped);

#endif
