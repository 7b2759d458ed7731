// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/words/finding.h"

const struct verdict_words verdict_words[VERDICTS] = {
	[VERDICT_PASS] = { "PASS", "pass", "pass" },
	[VERDICT_FAIL] = { "FAIL", "fail", "FAIL" },
	[VERDICT_UNKNOWN] = { "UNKNOWN", "unknown", "UNKN" },
	[VERDICT_SKIP] = { "SKIP", "skip", "skip" },
	[VERDICT_WAIVED] = { "WAIVED", "waived", "waived" },
};
