// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"
#include "site/judge/verdict/json.h"

json_t *verdict_exact_json(uint64_t number)
{
	char text[24];

	if (number <= 1ull << 53)
		return json_integer(number);
	snprintf(text, sizeof(text), "%lu", (unsigned long)number);
	return json_string(text);
}

json_t *verdict_text_json(const char *text)
{
	char *valid = text ? text_utf8(text) : NULL;
	json_t *value = valid ? json_string(valid) : json_null();

	free(valid);
	return value;
}

const char *verdict_word(enum verdict verdict)
{
	static const char *const names[VERDICTS] = { "pass", "fail", "unknown", "skip", "waived" };

	return names[verdict];
}
