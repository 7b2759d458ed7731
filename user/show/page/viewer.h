/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Program and style of the page, built from user/show/viewer/ by scripts/embed-viewer. The hashes
 * are for the content security policy, "sha256-...".
 */
#ifndef UCXBPF_PAGE_VIEWER_H
#define UCXBPF_PAGE_VIEWER_H

extern const char page_viewer_js[], page_viewer_js_end[];
extern const char page_viewer_css[], page_viewer_css_end[];
extern const char page_viewer_js_hash[], page_viewer_css_hash[];

/* The same for the page of a verdict. */
extern const char page_verdict_js[], page_verdict_js_end[];
extern const char page_verdict_css[], page_verdict_css_end[];
extern const char page_verdict_js_hash[], page_verdict_css_hash[];

#endif
