/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file given to a command is, by its content; its name says nothing. */
#ifndef UCXBPF_CMD_INPUT_SCHEMA_H
#define UCXBPF_CMD_INPUT_SCHEMA_H

/*
 * The schema of a JSON document, "inventory" of {"schema": "ucxbpf.inventory/1", or NULL: none of
 * ours. The first member of an object must name it, in the first bytes of a file.
 */
const char *evidence_schema(const char *path);

#endif
