/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Diagnostics: one line each, to stderr, lower case, no full stop. Results never go through here.
 * errno is preserved by every function.
 */
#ifndef UCXBPF_BASE_LOG_H
#define UCXBPF_BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Most detailed level that is printed; LOG_WARN until set. */
void log_set_level(enum log_level level);

/*
 * Prints a line on standard error, "ucxbpf: warning: ..."; appends the newline, preserves errno.
 * Names in it may be anybody's: characters that would steer a terminal become ?.
 */
void log_printf(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...) log_printf(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_printf(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_printf(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_printf(LOG_DEBUG, __VA_ARGS__)

#endif
