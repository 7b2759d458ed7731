// SPDX-License-Identifier: BSD-3-Clause
#include "base/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/*
 * GCC's demangler (libsupc++, cp-demangle.c; no header declares this entry). It hands the name out
 * in pieces and allocates nothing but its stack, so that it can be left by a jump.
 */
int __gcclibcxx_demangle_callback(const char *symbol,
				  void (*piece)(const char *text, size_t length, void *arg),
				  void *arg);

#define MOST_SYMBOL 4096 /* bytes; its stack takes 64 per byte */
#define MOST_NAME (16 << 10)

struct name_pieces {
	char *text;
	size_t len;
	jmp_buf too_long;
};

static void add_piece(const char *text, size_t length, void *arg)
{
	struct name_pieces *pieces = arg;

	if (length >= MOST_NAME - pieces->len)
		longjmp(pieces->too_long, 1);
	memcpy(pieces->text + pieces->len, text, length);
	pieces->len += length;
}

char *demangle(const char *symbol)
{
	struct name_pieces pieces = { .len = 0 };
	char *name;

	if (!symbol || strncmp(symbol, "_Z", 2) || strlen(symbol) > MOST_SYMBOL)
		return NULL;
	pieces.text = xmalloc(MOST_NAME);
	name = pieces.text;
	if (setjmp(pieces.too_long) || __gcclibcxx_demangle_callback(symbol, add_piece, &pieces) ||
	    !pieces.len) {
		free(name);
		return NULL;
	}
	name[pieces.len] = '\0';
	return name;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool at_word(const char *name, const char *at, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(at, word, length) && !is_word(at[length]) &&
	       (at == name || !is_word(at[-1]));
}

/* Behind a closing bracket of the kind that is open here, or at the end. */
static char *behind_brackets(char *at, char open, char close)
{
	int depth = 0;

	for (; *at; at++) {
		depth += (*at == open) - (*at == close);
		if (!depth)
			return at + 1;
	}
	return at;
}

/* Behind the sign of an operator: "operator()", "operator<", "operator->*"... */
static char *behind_operator(char *at)
{
	at += strlen("operator");
	if (!strncmp(at, "()", 2))
		return at + 2;
	return at + strspn(at, "<>=!+-*/%^&|~[],");
}

static const char anonymous[] = "(anonymous namespace)";

struct function_name {
	char *from, *to;
};

/* The name between the type that is returned and the parameters. */
static struct function_name find_name(char *name)
{
	struct function_name found = { name, name + strlen(name) };
	bool conversion = false; /* a blank behind it belongs to the name: "operator new" */

	for (char *at = name; *at;) {
		if (at_word(name, at, "operator")) {
			at = behind_operator(at);
			conversion = true;
		} else if (!strncmp(at, anonymous, strlen(anonymous))) {
			at += strlen(anonymous);
		} else if (at_word(name, at, "decltype")) {
			at += strcspn(at, "(");
			at = behind_brackets(at, '(', ')');
		} else if (*at == '<') {
			at = behind_brackets(at, '<', '>');
		} else if (*at == '{') {
			at = behind_brackets(at, '{', '}');
		} else if (*at == '(') {
			found.to = at;
			return found;
		} else {
			if (*at == ' ' && !conversion)
				found.from = at + 1;
			at++;
		}
	}
	return found;
}

/* Takes the words before each "::" out of template arguments, and puts the rest at `to`. */
static void copy_name(char *to, const char *from, const char *end)
{
	const char *start = to;
	int depth = 0;

	while (from < end) {
		if (!strncmp(from, "operator<", strlen("operator<"))) {
			for (size_t i = 0; i < strlen("operator<"); i++)
				*to++ = *from++;
			continue;
		}
		depth += (*from == '<') - (*from == '>' && from[-1] != '-');
		if (depth > 0 && from[0] == ':' && from[1] == ':' && to > start &&
		    is_word(to[-1])) {
			while (to > start && is_word(to[-1]))
				to--;
			from += 2;
			continue;
		}
		*to++ = *from++;
	}
	*to = '\0';
}

void demangled_shorten(char *name)
{
	struct function_name found;
	char *clone = strstr(name, " [clone");

	if (clone)
		*clone = '\0';
	found = find_name(name);
	if (found.to > found.from)
		copy_name(name, found.from, found.to);
}
