/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offsets of C struct members by name, from debug information.
 */
#ifndef UCXBPF_TARGET_DWARF_FIELDS_H
#define UCXBPF_TARGET_DWARF_FIELDS_H

#include <elfutils/libdw.h>

struct dwarf_types;

/* Borrows dwarf until dwarf_types_free(). NULL: no memory. */
struct dwarf_types *dwarf_types_new(Dwarf *dwarf);
void dwarf_types_free(struct dwarf_types *types);

/*
 * Offset in bytes of member ("send.state.uct_comp"; members of unnamed structs and unions are found
 * through them) in the struct called type, by tag or typedef; member "": the type's size.
 * -ENOENT: not there.
 */
int dwarf_field_offset(struct dwarf_types *types, const char *type, const char *member,
		       unsigned int *offset);

/* Number of elements of an array member. -ENOENT. */
int dwarf_array_length(struct dwarf_types *types, const char *type, const char *member,
		       unsigned int *length);

#endif
