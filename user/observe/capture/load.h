/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the programs of an object side by side. libbpf loads one after the other, and the kernel
 * takes most of an attach to verify them.
 */
#ifndef UCXBPF_CAPTURE_LOAD_H
#define UCXBPF_CAPTURE_LOAD_H

struct bpf_object_skeleton;

/* Before the object is opened. Where libbpf refuses, programs are loaded one after the other. */
void load_prepare(void);

/* bpf_object__load_skeleton(), with a thread for each uprobe program. Returns the first -errno. */
int load_side_by_side(struct bpf_object_skeleton *skeleton);

#endif
