/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the programs of an object in parallel. libbpf loads them one by one, and most of an attach
 * is their verification by the kernel.
 */
#ifndef UCXBPF_CAPTURE_LOAD_H
#define UCXBPF_CAPTURE_LOAD_H

struct bpf_object_skeleton;

/* To be called before the object is opened. If libbpf refuses, programs are loaded one by one. */
void load_prepare(void);

/* bpf_object__load_skeleton(), with a thread for each uprobe program. Returns the first -errno. */
int load_side_by_side(struct bpf_object_skeleton *skeleton);

#endif
