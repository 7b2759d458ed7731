/* SPDX-License-Identifier: BSD-3-Clause */
/* What our pages have around their data: a policy, a style, a program, and nothing that is fetched.
 */
#ifndef UCXBPF_PAGE_FRAME_H
#define UCXBPF_PAGE_FRAME_H

#include <stdio.h>

struct frame {
	const char *title;
	const char *beside; /* of another page that it links to, page_beside(); NULL: none */
	const char *js, *js_end, *js_hash;
	const char *css, *css_end, *css_hash;
};

/* Up to where data begin. */
void frame_head(const struct frame *frame, FILE *out);

/* A script element of JSON text, in which nothing looks like markup. */
void frame_json(const char *id, const char *json, FILE *out);

/* Behind the data. Returns 0 or -errno of a failed write of any of it. */
int frame_end(const struct frame *frame, FILE *out);

#endif
