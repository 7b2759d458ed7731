/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structs as JSON objects, and back, by tables of their members. Objects have their members in the
 * order of the rows; a row of zeros ends a table.
 *
 *	static const struct shape user_shape[] = {
 *		SHAPE_OF(struct user, pid),
 *		SHAPE_AS("name", struct user, comm, .instead = "unknown"),
 *		SHAPE_OF(struct user, gpu, .null = SHAPE_NEGATIVE),
 *		{ 0 },
 *	};
 */
#ifndef UCXBPF_BASE_SHAPE_H
#define UCXBPF_BASE_SHAPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shape_type {
	SHAPE_END,
	SHAPE_IS_TEXT, /* char *; null: NULL. ? for each byte that is not UTF-8 */
	SHAPE_IS_CHARS, /* char[]; null: "" */
	SHAPE_IS_BOOL,
	SHAPE_IS_SIGNED, /* of size */
	SHAPE_IS_UNSIGNED,
	SHAPE_IS_REAL, /* double; null: NAN */
	SHAPE_IS_WORD, /* an enum or bool, as its name: words */
	SHAPE_IS_STRUCT, /* of */
	SHAPE_IS_LIST, /* VEC() of structs: of, size */
	SHAPE_IS_SPAN, /* pointer to structs: of, size, count */
	SHAPE_IS_TEXTS, /* VEC() of char * */
	SHAPE_IS_SAID, /* always the text instead */
	SHAPE_IS_MADE, /* the result of make or call; null: NULL */
};

/* Numbers that mean unknown or none. */
enum shape_null { SHAPE_NO_NULL, SHAPE_NEGATIVE, SHAPE_ZERO, SHAPE_MOST /* UINT64_MAX */ };

/* Used by shape_read() only. */
enum shape_need {
	SHAPE_NULL, /* may be null */
	SHAPE_LATER, /* likewise, and missing: files of older versions lack it */
	SHAPE_NEEDED,
};

/* Another member of the object; size 0: none. */
struct shape_place {
	size_t offset, size;
};

struct shape {
	const char *name;
	enum shape_type type;
	enum shape_null null;
	enum shape_need need;
	bool optional; /* null is not written */
	bool exact; /* beyond 2^53, which is not exact in every reader, a text of digits */
	bool hex; /* a text: "0x1f" */
	size_t offset, size;
	const struct shape *of;
	const char *const *words;
	const char *instead; /* value of NULL */
	/* One of both: creates the member's value, or NULL; arg as for shape_put(). */
	json_t *(*make)(const void *member);
	json_t *(*call)(const void *member, const void *arg);
	struct shape_place count; /* of a span, an int or size_t */
	/* The member is null where "when" is all zero or NULL, where "unless" is not, or known says
	 * so. */
	struct shape_place when, unless;
	bool (*known)(const void *object);
};

#define SHAPE_PLACE(struct_type, member)                                                           \
	{                                                                                          \
		offsetof(struct_type, member), sizeof(((struct_type *)0)->member)                  \
	}
#define SHAPE_WHEN(struct_type, member) .when = SHAPE_PLACE(struct_type, member)
#define SHAPE_UNLESS(struct_type, member) .unless = SHAPE_PLACE(struct_type, member)

#define SHAPE_MEMBER(as, of_type, struct_type, member, ...)                                        \
	{                                                                                          \
		.name = (as), .type = (of_type), .offset = offsetof(struct_type, member),          \
		.size = sizeof(((struct_type *)0)->member), ##__VA_ARGS__                          \
	}

/* A pointer, so that arrays are refused. */
#define SHAPE_TYPE(member)                                                                         \
	_Generic((member), char ** : SHAPE_IS_TEXT, const char ** : SHAPE_IS_TEXT,                 \
		bool * : SHAPE_IS_BOOL, double * : SHAPE_IS_REAL, int * : SHAPE_IS_SIGNED,         \
		long * : SHAPE_IS_SIGNED, uint8_t * : SHAPE_IS_UNSIGNED,                           \
		uint16_t * : SHAPE_IS_UNSIGNED, uint32_t * : SHAPE_IS_UNSIGNED,                    \
		unsigned long * : SHAPE_IS_UNSIGNED, unsigned long long * : SHAPE_IS_UNSIGNED)

/* A text, bool or number, by its type in C. Further members of the row may follow. */
#define SHAPE_AS(name, struct_type, member, ...)                                                   \
	SHAPE_MEMBER(name, SHAPE_TYPE(&((struct_type *)0)->member), struct_type, member,           \
		     ##__VA_ARGS__)
#define SHAPE_OF(struct_type, member, ...) SHAPE_AS(#member, struct_type, member, ##__VA_ARGS__)

#define SHAPE_CHARS(name, struct_type, member, ...)                                                \
	SHAPE_MEMBER(name, SHAPE_IS_CHARS, struct_type, member, ##__VA_ARGS__)
#define SHAPE_WORD(name, struct_type, member, names, ...)                                          \
	SHAPE_MEMBER(name, SHAPE_IS_WORD, struct_type, member, .words = (names), ##__VA_ARGS__)
#define SHAPE_STRUCT(name, struct_type, member, shape, ...)                                        \
	SHAPE_MEMBER(name, SHAPE_IS_STRUCT, struct_type, member, .of = (shape), ##__VA_ARGS__)
#define SHAPE_LIST(as, struct_type, member, shape, ...)                                            \
	{                                                                                          \
		.name = (as), .type = SHAPE_IS_LIST, .offset = offsetof(struct_type, member),      \
		.size = sizeof(*((struct_type *)0)->member.data), .of = (shape), ##__VA_ARGS__     \
	}
#define SHAPE_SPAN(as, struct_type, member, count_member, shape, ...)                              \
	{                                                                                          \
		.name = (as), .type = SHAPE_IS_SPAN, .offset = offsetof(struct_type, member),      \
		.size = sizeof(*((struct_type *)0)->member), .of = (shape),                        \
		.count = SHAPE_PLACE(struct_type, count_member), ##__VA_ARGS__                     \
	}
#define SHAPE_TEXTS(name, struct_type, member, ...)                                                \
	SHAPE_MEMBER(name, SHAPE_IS_TEXTS, struct_type, member, ##__VA_ARGS__)
/* function: of one or two parameters, as make and call. */
#define SHAPE_FUNCTION(function)                                                                   \
	.make = _Generic(&(function), json_t * (*)(const void *)                                   \
			 : (function), default                                                     \
			 : NULL),                                                                  \
	.call = _Generic(&(function), json_t * (*)(const void *)                                   \
			 : NULL, json_t * (*)(const void *, const void *)                          \
			 : (function))
#define SHAPE_MADE(name, struct_type, member, function, ...)                                       \
	SHAPE_MEMBER(name, SHAPE_IS_MADE, struct_type, member, SHAPE_FUNCTION(function),           \
		     ##__VA_ARGS__)

/* Members made of the whole object: a nested object, a text, the result of a function. */
#define SHAPE_PART(as, shape, ...)                                                                 \
	{                                                                                          \
		.name = (as), .type = SHAPE_IS_STRUCT, .of = (shape), ##__VA_ARGS__                \
	}
#define SHAPE_SAYS(as, text)                                                                       \
	{                                                                                          \
		.name = (as), .type = SHAPE_IS_SAID, .instead = (text)                             \
	}
#define SHAPE_WHOLE(as, function, ...)                                                             \
	{                                                                                          \
		.name = (as), .type = SHAPE_IS_MADE, SHAPE_FUNCTION(function), ##__VA_ARGS__       \
	}

/* Such functions, of one expression about an object: and of an argument; and whether it is known.
 */
#define SHAPE_GETTER(function, struct_type, object, value)                                         \
	static json_t *function(const void *from)                                                  \
	{                                                                                          \
		const struct_type *object = from;                                                  \
		return (value);                                                                    \
	}                                                                                          \
	static json_t *function(const void *)
#define SHAPE_GETTER_WITH(function, struct_type, object, arg_type, arg, value)                     \
	static json_t *function(const void *from, const void *with)                                \
	{                                                                                          \
		const struct_type *object = from;                                                  \
		const arg_type *arg = with;                                                        \
		return (value);                                                                    \
	}                                                                                          \
	static json_t *function(const void *, const void *)
#define SHAPE_KNOWN(function, struct_type, object, condition)                                      \
	static bool function(const void *from)                                                     \
	{                                                                                          \
		const struct_type *object = from;                                                  \
		return (condition);                                                                \
	}                                                                                          \
	static bool function(const void *)

/* ---- to JSON ---- */

/* Adds the members of from to an object. arg: for functions that take one. */
void shape_put(json_t *to, const struct shape *shape, const void *from, const void *arg);

/* A new object. */
json_t *shape_json(const struct shape *shape, const void *from, const void *arg);

/* A new array of count structs of size bytes. */
json_t *shape_array(const struct shape *shape, const void *from, size_t count, size_t size,
		    const void *arg);
#define shape_list(shape, vec, arg)                                                                \
	shape_array(shape, (vec).data, (vec).len, sizeof(*(vec).data), arg)

/* "0x7f00": pointers and 64-bit ids are text, for JSON numbers do not hold them. The caller's. */
json_t *json_hex(uint64_t value);

/* Values as above. */
json_t *shape_text(const char *text);
json_t *shape_texts(const char *const *texts, size_t count);
json_t *shape_exact(uint64_t number);

/* ---- and back: texts, int64_t of 0 or more, structs and lists ---- */

/* Sets all numbers to -1, all else to nothing. */
void shape_init(const struct shape *shape, void *to);
void shape_release(const struct shape *shape, void *from);

struct shape_error {
	char where[120]; /* "nics[3].rate" */
	const char *what;
};

/* Every member must be there (but for SHAPE_LATER) and be of its type, no other may be. to is made
 * by shape_init(). */
bool shape_read(const struct shape *shape, const json_t *from, void *to, struct shape_error *error);

#endif
