/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the table in formats.c. */
#ifndef UCXBPF_EXPORT_FORMATS_H
#define UCXBPF_EXPORT_FORMATS_H

#include "show/export/export.h"

extern const struct export_format export_json;
extern const struct export_format export_ndjson;
extern const struct export_format export_csv;
extern const struct export_format export_sqlite;
extern const struct export_format export_folded;
extern const struct export_format export_perfetto;
extern const struct export_format export_html;
extern const struct export_format export_otf2;

#endif
