/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of `ucxbpf check` as one HTML file that needs nothing else. */
#ifndef UCXBPF_PAGE_VERDICT_H
#define UCXBPF_PAGE_VERDICT_H

#include <stdio.h>

/*
 * json: UTF-8, as judge_page_data() writes it. beside: the full report's page, to link to, as
 * page_beside() allows; NULL: none. Returns 0 or -errno of a failed write.
 */
int page_verdict(const char *json, const char *beside, FILE *out);

#endif
