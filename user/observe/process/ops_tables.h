/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names for the uct_iface_ops_t tables that elf_ops_tables() finds.
 */
#ifndef UCXBPF_TARGET_OPS_TABLES_H
#define UCXBPF_TARGET_OPS_TABLES_H

#include "observe/process/elf.h"

/*
 * Writes the name of the transport a table belongs to, as UCX's sources call it ("ud_verbs", "cma",
 * "rc_mlx5"); "" where the file does not tell. From the class object that the compiler placed in
 * front of the table: uct_NAME_iface_t_class (UCX 1.13.1 to 1.22.0, UCS_CLASS_DEFINE).
 */
void ops_table_transport(const struct elf *elf, const struct elf_ops_table *table, char *name,
			 size_t size);

#endif
