/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of inventory_collect(), and how it reads small files of /sys and /proc, whose content is
 * not trusted (a line of at most LOOK_LINE bytes of a regular file, made printable; never a file
 * that could block).
 */
#ifndef UCXBPF_INVENTORY_INTERNAL_H
#define UCXBPF_INVENTORY_INTERNAL_H

#include <stdint.h>

#include "base/shape.h"
#include "base/vec.h"
#include "site/inventory/inventory.h"

/* An inventory with all members unknown. */
struct inventory *inventory_new(void);

/* A new one with all members unknown, valid until the next. */
struct inventory_nic *inventory_add_nic(struct inventory *inventory);
struct inventory_gpu *inventory_add_gpu(struct inventory *inventory);

/* To its list "ucx" or "mpi". */
struct inventory_library *inventory_add_library(struct inventory *inventory, const char *list);

/* A network interface by name, or NULL. */
struct inventory_nic *inventory_find_net(struct inventory *inventory, const char *name);

#define LOOK_LINE 512
#define LOOK_PATH 1024
#define LOOK_ENTRIES 4096 /* of a folder, at most */

struct look {
	const char *root; /* "": this machine */
	char sysfs[LOOK_PATH / 4], proc[LOOK_PATH / 4];
	bool foreign_net; /* sysfs is of another network namespace */
	struct inventory *inventory;
};

typedef VEC(char *) look_names;

/* Writes a path; "" if it is too long, from which nothing can be read. */
void look_path(char path[LOOK_PATH], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first line without blanks at its ends, the caller's; NULL: none, errno says why. */
char *look_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The line as a whole number of 0 or more, else INVENTORY_UNKNOWN. */
int64_t look_number(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* At most limit bytes of a file, NULs and all; the caller's, with a NUL behind. NULL: errno says
 * why. */
char *look_whole(const char *path, size_t limit, size_t *size);

/* Names in a directory in order, without hidden ones; empty if it cannot be read.
 */
look_names look_folder(const char *format, ...) __attribute__((format(printf, 1, 2)));
void look_release(look_names *names);

/* The last part of a link's target ("mlx5_core" of .../driver), the caller's; NULL: no link. */
char *look_link(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A private instance of a file system ("proc", "sysfs"): nobody else sees it, and it is gone with
 * its descriptor. -1: only root may have one.
 */
int look_mount(const char *kind);

/* Notes why something is not known. */
void look_unknown(struct look *look, const char *why, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* For the device that a directory's link 'device' points to, or the directory itself. */
void collect_pci(struct look *look, const char *folder, struct inventory_pci *pci);

/*
 * Makes look->sysfs a sysfs of our own network namespace: if /sys shows another one, as in a node
 * made of namespaces, a private one is mounted. Returns the descriptor to close at the end, or -1.
 */
int collect_own_sysfs(struct look *look);

void collect_nics(struct look *look);
void collect_verbs_users(struct look *look);
void collect_gpus(struct look *look);
void collect_software(struct look *look);

#endif
