// SPDX-License-Identifier: BSD-3-Clause
/* Parts of findings: texts that live as long as the judge, and subjects with one. */
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/units.h"
#include "site/judge/internal.h"

const char *say(struct judge *judge, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	vec_push(&judge->made, text);
	return text;
}

const char *say_bytes(struct judge *judge, uint64_t bytes)
{
	char text[40];

	unit_bytes(text, sizeof(text), bytes, true);
	return say(judge, "%s", text);
}

const char *say_time(struct judge *judge, double ns)
{
	char text[32];

	unit_time(text, sizeof(text), (uint64_t)ns, false);
	return say(judge, "%s", text);
}

/* ---- subjects ---- */

static const char *or_unknown(const char *name)
{
	return name ? name : "?";
}

static struct subject subject_part(struct judge *judge, enum subject_kind kind, const char *node,
				   const char *part)
{
	return (struct subject){
		.kind = kind,
		.node = node,
		.part = part,
		.text = say(judge, "%s:%s", or_unknown(node), part),
	};
}

struct subject subject_nic(struct judge *judge, const char *node, const char *nic)
{
	return subject_part(judge, SUBJECT_NIC, node, nic);
}

struct subject subject_rank(struct judge *judge, const char *node, int rank)
{
	return subject_part(judge, SUBJECT_RANK, node, say(judge, "rank%d", rank));
}

struct subject subject_pid(struct judge *judge, const char *node, unsigned int pid)
{
	return subject_part(judge, SUBJECT_PID, node, say(judge, "pid%u", pid));
}

static struct subject subject_both(struct judge *judge, enum subject_kind kind, const char *node,
				   const char *other)
{
	struct subject subject = { .kind = kind, .node = node, .other = other };

	subject.text = say(judge, "%s%s%s", or_unknown(node), subject_between(&subject),
			   or_unknown(other));
	return subject;
}

struct subject subject_flow(struct judge *judge, const char *from, const char *to)
{
	return subject_both(judge, SUBJECT_FLOW, from, to);
}

struct subject subject_pair(struct judge *judge, const char *one, const char *other)
{
	return subject_both(judge, SUBJECT_PAIR, one, other);
}
