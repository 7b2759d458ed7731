// SPDX-License-Identifier: BSD-3-Clause
/* Memory that runs out: one message, and the exit status of the command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

#define MANY ((size_t)64 << 20) /* bytes, more than a heap has left */

static char *text; /* of MANY bytes */

static void by_malloc(void)
{
	xmalloc(MANY);
}

static void by_calloc(void)
{
	xcalloc(MANY / 8, 8);
}

static void by_reallocarray(void)
{
	xreallocarray(xmalloc(8), MANY / 8, 8);
}

static void by_overflow(void)
{
	xreallocarray(NULL, SIZE_MAX / 2, 4);
}

static void by_strdup(void)
{
	xstrdup(text);
}

static void by_strndup(void)
{
	xstrndup(text, MANY - 1);
}

static void by_asprintf(void)
{
	xasprintf("%s", text);
}

static void by_memstream(void)
{
	char *data;
	size_t size;
	FILE *out = xmemstream(&data, &size);

	fputs(text, out);
	fclose(out);
}

static void by_vec(void)
{
	VEC(uint64_t) numbers = { 0 };

	for (size_t i = 0; i < MANY; i++)
		vec_push(&numbers, i);
}

static void by_map(void)
{
	struct map map = { 0 };

	for (size_t i = 0; i < MANY; i++)
		map_insert(&map, i, 0, NULL);
}

/* Ends with status 99 if the allocation succeeds. */
static void exhaust(void (*allocate)(void), int err)
{
	const struct rlimit none = { 0 };

	dup2(err, STDERR_FILENO);
	if (setrlimit(RLIMIT_AS, &none))
		_exit(98);
	allocate();
	_exit(99);
}

static void expect_end(void (*allocate)(void), int expected)
{
	static const char message[] = "ucxbpf: error: out of memory\n";
	char said[256] = "";
	int err[2], status;
	pid_t child;

	assert_false(pipe(err));
	child = fork();
	assert_true(child >= 0);
	if (!child)
		exhaust(allocate, err[1]);
	close(err[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(read(err[0], said, sizeof(said) - 1), sizeof(message) - 1);
	close(err[0]);
	assert_string_equal(said, message);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
}

static void ends_with_a_message(void **state)
{
	static void (*const ways[])(void) = { by_malloc, by_calloc,  by_reallocarray, by_overflow,
					      by_strdup, by_strndup, by_asprintf,     by_memstream,
					      by_vec,    by_map };

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* its own allocator ends the program first */
#endif
	text = xmalloc(MANY);
	memset(text, 'x', MANY - 1);
	text[MANY - 1] = '\0';
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		expect_end(ways[i], 1);
	free(text);
}

static void status_is_that_of_the_command(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	alloc_set_status(5);
	expect_end(by_malloc, 5);
}

static void nothing_is_no_failure(void **state)
{
	void *data = xreallocarray(xcalloc(0, 8), 0, 8), *other = xmalloc(0);

	(void)state;
	assert_non_null(data);
	assert_non_null(other);
	free(data);
	free(other);
}

static void stream_into_memory(void **state)
{
	char *data;
	size_t size;
	FILE *out = xmemstream(&data, &size);

	(void)state;
	fclose(out);
	assert_string_equal(data, "");
	assert_int_equal(size, 0);
	free(data);
	out = xmemstream(&data, &size);
	for (int i = 0; i < 5000; i++)
		fprintf(out, "%04d", i);
	fclose(out);
	assert_int_equal(size, 20000);
	assert_int_equal(strlen(data), size);
	assert_memory_equal(data + 4 * 4321, "4321", 4);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_a_message),
		cmocka_unit_test(status_is_that_of_the_command),
		cmocka_unit_test(nothing_is_no_failure),
		cmocka_unit_test(stream_into_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
