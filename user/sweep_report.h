/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict on a sweep's folder. */
#ifndef UCXBPF_SWEEP_REPORT_H
#define UCXBPF_SWEEP_REPORT_H

#include <stdbool.h>

/*
 * Judges what is in the folder and prints it as format says, one of
 * verdict_form_of(). keep: also as report.txt, .json, .xml
 * and .prom in the folder. Returns an exit status (enum ucxbpf_check_exit).
 */
int sweep_report(const char *folder, const char *format, bool warn_ok, bool keep);

#endif
