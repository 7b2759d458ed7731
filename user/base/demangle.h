/* SPDX-License-Identifier: BSD-3-Clause */
/* The C++ names of symbols (Itanium C++ ABI, as GCC, Clang and their kin write them). */
#ifndef UCXBPF_BASE_DEMANGLE_H
#define UCXBPF_BASE_DEMANGLE_H

/*
 * The name with its parameters: "void ddSendrecv<gmx::RVec>(int, gmx::ArrayRef<gmx::RVec>)". NULL:
 * the symbol is not one of C++, or is not in order, or its name is longer than 16 KiB, which a few
 * bytes of a hostile symbol can make it. The caller frees it.
 */
char *demangle(const char *symbol);

/*
 * Shortens such a name in its place, to that of the function: "ddSendrecv<RVec>". It loses its
 * parameters, the type that it returns, and the namespaces of its template arguments.
 */
void demangled_shorten(char *name);

#endif
