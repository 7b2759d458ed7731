/* SPDX-License-Identifier: BSD-3-Clause */
/* C++ names of symbols (Itanium C++ ABI, as GCC, Clang and compatible compilers mangle them). */
#ifndef UCXBPF_BASE_DEMANGLE_H
#define UCXBPF_BASE_DEMANGLE_H

/*
 * The name with its parameters: "void ddSendrecv<gmx::RVec>(int, gmx::ArrayRef<gmx::RVec>)". NULL:
 * not a C++ symbol, malformed, or its name is longer than 16 KiB, which a few bytes of a hostile
 * symbol can produce. The caller frees it.
 */
char *demangle(const char *symbol);

/*
 * Shortens such a name in place to the function's: "ddSendrecv<RVec>". It loses its parameters, the
 * return type, and the namespaces of its template arguments.
 */
void demangled_shorten(char *name);

#endif
