/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page's program and style, as user/viewer/ is built: made by scripts/embed-viewer. The hashes
 * are those of a content security policy, "sha256-...".
 */
#ifndef UCXBPF_PAGE_VIEWER_H
#define UCXBPF_PAGE_VIEWER_H

extern const char page_viewer_js[], page_viewer_js_end[];
extern const char page_viewer_css[], page_viewer_css_end[];
extern const char page_viewer_js_hash[], page_viewer_css_hash[];

#endif
