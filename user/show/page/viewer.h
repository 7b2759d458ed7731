/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A page's program and style, as user/show/viewer/ is built: made by scripts/embed-viewer. The
 * hashes are those of a content security policy, "sha256-...".
 */
#ifndef UCXBPF_PAGE_VIEWER_H
#define UCXBPF_PAGE_VIEWER_H

extern const char page_viewer_js[], page_viewer_js_end[];
extern const char page_viewer_css[], page_viewer_css_end[];
extern const char page_viewer_js_hash[], page_viewer_css_hash[];

/* Of a verdict's page, likewise. */
extern const char page_verdict_js[], page_verdict_js_end[];
extern const char page_verdict_css[], page_verdict_css_end[];
extern const char page_verdict_js_hash[], page_verdict_css_hash[];

#endif
