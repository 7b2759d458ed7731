// SPDX-License-Identifier: BSD-3-Clause
/* JUnit XML as CI servers read it: a suite per rule, a case per subject. */
#include <errno.h>

#include "judge/rules.h"

/* Control characters have no place in XML 1.0, not even escaped. */
static void print_escaped(const char *text, FILE *out)
{
	for (; text && *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
		}
	}
}

static void print_said(const struct finding *finding, const char *element, FILE *out)
{
	fprintf(out, "      <%s message=\"", element);
	if (finding->why) {
		print_escaped(finding->why, out);
	} else {
		print_escaped(finding->seen, out);
		fputs("; expected ", out);
		print_escaped(finding->expected, out);
	}
	fputs("\"/>\n", out);
}

static void print_case(const struct finding *finding, FILE *out)
{
	static const char *const elements[VERDICTS] = {
		[VERDICT_FAIL] = "failure",
		[VERDICT_UNKNOWN] = "error",
		[VERDICT_SKIP] = "skipped",
		[VERDICT_WAIVED] = "skipped",
	};

	fprintf(out, "    <testcase classname=\"%s\" name=\"", finding->rule->id);
	print_escaped(finding->subject, out);
	if (!elements[finding->verdict]) {
		fputs("\"/>\n", out);
		return;
	}
	fputs("\">\n", out);
	print_said(finding, elements[finding->verdict], out);
	fputs("    </testcase>\n", out);
}

static size_t count_of(const struct finding *findings, size_t count, enum verdict verdict)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += findings[i].verdict == verdict;
	return sum;
}

static void print_suite(const struct finding *findings, size_t count, FILE *out)
{
	fprintf(out, "  <testsuite name=\"%s ", findings->rule->id);
	print_escaped(findings->rule->title, out);
	fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", count,
		count_of(findings, count, VERDICT_FAIL), count_of(findings, count, VERDICT_UNKNOWN),
		count_of(findings, count, VERDICT_SKIP) +
			count_of(findings, count, VERDICT_WAIVED));
	for (size_t i = 0; i < count; i++)
		print_case(&findings[i], out);
	fputs("  </testsuite>\n", out);
}

int judge_junit(const struct judge *judge, FILE *out)
{
	const struct finding *findings = judge->findings.data;
	size_t from = 0, to;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ucxbpf check\">\n",
	      out);
	for (; from < judge->findings.len; from = to) {
		for (to = from;
		     to < judge->findings.len && findings[to].rule == findings[from].rule;)
			to++;
		print_suite(&findings[from], to - from, out);
	}
	fputs("</testsuites>\n", out);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
