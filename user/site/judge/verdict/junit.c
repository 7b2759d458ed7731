// SPDX-License-Identifier: BSD-3-Clause
/* JUnit XML as CI servers read it: a suite per rule, a case per subject. */
#include <stdlib.h>

#include "base/text.h"
#include "site/judge/internal.h"
#include "site/judge/judge.h"

/* Passes are one case per rule where there are more than that many cases in all. */
#define MOST_CASES 2000

static const char *escape_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	}
	return NULL;
}

/* XML 1.0 allows neither control characters, even escaped, nor invalid UTF-8. */
static void print_escaped(const char *text, FILE *out)
{
	char *plain = text_plain(text ? text : "");
	size_t bytes;

	for (const char *c = plain; *c; c += bytes) {
		unsigned int code;

		bytes = text_character(c, &code);
		if (code == 0xfffe || code == 0xffff)
			putc('?', out);
		else if (escape_of(*c))
			fputs(escape_of(*c), out);
		else
			fwrite(c, 1, bytes, out);
	}
	free(plain);
}

static void print_message(const struct finding *finding, FILE *out)
{
	if (finding->why || !finding->seen) {
		print_escaped(finding->why ? finding->why : finding->rule->title, out);
		return;
	}
	print_escaped(finding->seen, out);
	fputs("; expected ", out);
	print_escaped(finding->expected, out);
}

static void print_advice(const struct finding *finding, FILE *out)
{
	if (finding->cause) {
		fputs("cause: ", out);
		print_escaped(finding->cause, out);
		putc('\n', out);
	}
	for (size_t i = 0; !finding->cause && i < CATALOGUE_CAUSES && finding->rule->causes[i];
	     i++) {
		fputs("likely: ", out);
		print_escaped(finding->rule->causes[i], out);
		putc('\n', out);
	}
	fputs("do: ", out);
	print_escaped(finding->rule->remedy, out);
	fputs("\nseen in: ", out);
	print_escaped(finding->rule->reference, out);
}

static void print_said(const struct finding *finding, const char *element, FILE *out)
{
	fprintf(out, "      <%s message=\"", element);
	print_message(finding, out);
	if (finding->verdict != VERDICT_FAIL) {
		fputs("\"/>\n", out);
		return;
	}
	fprintf(out, "\" type=\"%s\">", severity_names[finding->severity]);
	print_advice(finding, out);
	fprintf(out, "</%s>\n", element);
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
	print_escaped(finding->subject.text, out);
	if (!elements[finding->verdict]) {
		fputs("\"/>\n", out);
		return;
	}
	fputs("\">\n", out);
	print_said(finding, elements[finding->verdict], out);
	fputs("    </testcase>\n", out);
}

/* The findings of a rule. */
struct suite {
	const struct finding *findings;
	size_t count, verdicts[VERDICTS];
	bool fold; /* what passed is one case */
};

static void print_suite(const struct suite *suite, FILE *out)
{
	const struct catalogue_rule *rule = suite->findings->rule;
	size_t passed = suite->verdicts[VERDICT_PASS];
	bool fold = suite->fold && passed > 1;

	fprintf(out, "  <testsuite name=\"%s ", rule->id);
	print_escaped(rule->title, out);
	fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		fold ? suite->count - passed + 1 : suite->count, suite->verdicts[VERDICT_FAIL],
		suite->verdicts[VERDICT_UNKNOWN],
		suite->verdicts[VERDICT_SKIP] + suite->verdicts[VERDICT_WAIVED]);
	if (fold)
		fprintf(out, "    <testcase classname=\"%s\" name=\"%zu that pass\"/>\n", rule->id,
			passed);
	for (size_t i = 0; i < suite->count; i++)
		if (!fold || suite->findings[i].verdict != VERDICT_PASS)
			print_case(&suite->findings[i], out);
	fputs("  </testsuite>\n", out);
}

static struct suite suite_at(const struct judge *judge, size_t from)
{
	struct suite suite = {
		.findings = &judge->findings.data[from],
		.fold = judge->findings.len > MOST_CASES,
	};

	for (;
	     from < judge->findings.len && judge->findings.data[from].rule == suite.findings->rule;
	     from++) {
		suite.verdicts[judge->findings.data[from].verdict]++;
		suite.count++;
	}
	return suite;
}

int judge_junit(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	struct suite suite;

	(void)how;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ucxbpf check\">\n",
	      out);
	for (size_t i = 0; i < judge->findings.len; i += suite.count) {
		suite = suite_at(judge, i);
		print_suite(&suite, out);
	}
	fputs("</testsuites>\n", out);
	return text_finish(out);
}
