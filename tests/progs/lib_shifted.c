// SPDX-License-Identifier: BSD-3-Clause
/*
 * Not UCX, but functions with some of its names, which add up constants. Built twice: with SHIFT
 * bytes in front the code of one build lies in the middle of the other's. PROGRAM: maps the library
 * that it is given, calls all functions, and prints their sum.
 */
#ifdef PROGRAM
#include <dlfcn.h>
#include <stdio.h>
#endif

#define FUNCTIONS(X)                                                                               \
	X(ucp_worker_create)                                                                       \
	X(ucp_worker_progress)                                                                     \
	X(ucp_tag_send_nbx)                                                                        \
	X(ucp_tag_recv_nbx)                                                                        \
	X(ucp_am_send_nbx)                                                                         \
	X(ucp_put_nbx)                                                                             \
	X(ucp_get_nbx)                                                                             \
	X(ucp_ep_create)

#ifdef PROGRAM
int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	unsigned long sum = 0;

	if (!library)
		return 1;
#define CALL(name)                                                                                 \
	for (int i = 0; i < 100; i++)                                                              \
		sum += ((unsigned long (*)(unsigned long))dlsym(library, #name))(sum);
	FUNCTIONS(CALL)
	printf("sum %lx\n", sum);
	return 0;
}
#else
#ifdef SHIFT
#define STRING(x) #x
#define TEXT(x) STRING(x)
__asm__(".text\n.fill " TEXT(SHIFT) ", 1, 0x90\n");
#endif

/* movabs $constant,%rax; add %rdi,%rax: ten bytes and three, again and again */
#define DEFINE(name)                                                                               \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                \
		"movabs $0x1122334455667788, %rax\nadd %rdi, %rax\n"                               \
		"movabs $0x0123456789abcdef, %rcx\nadd %rcx, %rax\n"                               \
		"movabs $0x7766554433221100, %rcx\nadd %rcx, %rax\nret\n"                          \
		".size " #name ", . - " #name "\n");
FUNCTIONS(DEFINE)
#endif
