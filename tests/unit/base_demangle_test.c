// SPDX-License-Identifier: BSD-3-Clause
/* Names of C++ functions: whole, and as short as they are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/demangle.h"

static const struct {
	const char *symbol, *whole, *brief;
} names[] = {
	{ "_Z11global_statRKiPd", "global_stat(int const&, double*)", "global_stat" },
	{ "_Z10ddSendrecvIN3gmx11BasicVectorIfEEEvPKiNS0_8ArrayRefIT_EE",
	  "void ddSendrecv<gmx::BasicVector<float> >(int const*, gmx::ArrayRef<gmx::BasicVector<float> "
	  ">)",
	  "ddSendrecv<BasicVector<float> >" },
	{ "_ZN3gmx6Solver3runEv", "gmx::Solver::run()", "gmx::Solver::run" },
	{ "_ZNK3gmx6Solver3runEv.part.0", "gmx::Solver::run() const [clone .part.0]",
	  "gmx::Solver::run" },
	{ "_ZN12_GLOBAL__N_14sendEi", "(anonymous namespace)::send(int)",
	  "(anonymous namespace)::send" },
	{ "_ZN1AclEi", "A::operator()(int)", "A::operator()" },
	{ "_ZN1AltERKS_", "A::operator<(A const&)", "A::operator<" },
	{ "_ZN1AptEv", "A::operator->()", "A::operator->" },
	{ "_ZN1AcvlEv", "A::operator long()", "A::operator long" },
	{ "_ZnwmPv", "operator new(unsigned long, void*)", "operator new" },
	{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const",
	  "main::{lambda()#1}::operator()" },
	{ "_ZN1AC2Ev", "A::A()", "A::A" },
	{ "_Z3addIiEDTplfp_fp_ET_", "decltype ({parm#1}+{parm#1}) add<int>(int)", "add<int>" },
	{ "_ZTV1A", "vtable for A", "A" },
};

static void known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *name = demangle(names[i].symbol);

		if (!name)
			fail_msg("%s has no name", names[i].symbol);
		assert_string_equal(name, names[i].whole);
		demangled_shorten(name);
		assert_string_equal(name, names[i].brief);
		free(name);
	}
}

/* No name is made up for what is not a symbol of C++, or not in order. */
static void none(void **state)
{
	static const char *const symbols[] = { "main",         "",     "_Z",      "_ZN",
					       "_Z999999999f", "Z1fv", "_ZN3gmx", "_Z1fIS_" };

	(void)state;
	assert_null(demangle(NULL));
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		assert_null(demangle(symbols[i]));
}

/* f(A<int, int>, A<A<int, int>, A<int, int> >, ...): each argument is a pair of the one before. */
static const char *doubled(char *symbol, size_t size, int times)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len = (size_t)snprintf(symbol, size, "_Z1f1AIiiE");

	for (int i = 0; i < times; i++)
		len += (size_t)snprintf(symbol + len, size - len, "S_IS%c_S%c_E", digits[i],
					digits[i]);
	return symbol;
}

/* A few bytes of a hostile symbol double its name: it ends at the limit, and takes no time. */
static void too_long(void **state)
{
	char symbol[1024], *name;

	(void)state;
	name = demangle(doubled(symbol, sizeof(symbol), 1));
	assert_string_equal(name, "f(A<int, int>, A<A<int, int>, A<int, int> >)");
	free(name);
	name = demangle(doubled(symbol, sizeof(symbol), 6));
	assert_in_range(strlen(name), 1000, 4000);
	free(name);
	assert_null(demangle(doubled(symbol, sizeof(symbol), 12)));
	assert_null(demangle(doubled(symbol, sizeof(symbol), 34)));
}

/* Deep nesting ends as well. */
static void deep(void **state)
{
	char symbol[8192];

	(void)state;
	memset(symbol, 'P', sizeof(symbol));
	memcpy(symbol, "_Z1f", 4);
	memcpy(symbol + 1000, "i", 2);
	free(demangle(symbol));
	symbol[1000] = 'P';
	memcpy(symbol + 4000, "i", 2);
	free(demangle(symbol));
	symbol[4000] = 'P';
	symbol[sizeof(symbol) - 1] = '\0';
	assert_null(demangle(symbol));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known),
		cmocka_unit_test(none),
		cmocka_unit_test(too_long),
		cmocka_unit_test(deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
