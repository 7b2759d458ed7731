/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A duty cycle: the hot probes are in place for a while, then away until the next window is due.
 * A window begins and ends for all sites at one instant, which is in the file (side record
 * "window").
 */
#ifndef UCXBPF_CAPTURE_WINDOWS_H
#define UCXBPF_CAPTURE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

struct capture;

#define WINDOWS_ENDLESS UINT64_MAX

struct windows {
	/* ns; length 0: one window without an end, not told of; ENDLESS: until windows_close() */
	uint64_t length, period;
	bool governed; /* by a budget, which says what is recorded when (capture/budget.h) */
	/* governed: what this one has (governor_step_name()) and why, static, and what was paid */
	const char *step, *reason;
	double paid; /* share of a thread's time, before */
	bool open;
	bool collected; /* what threads kept back at the end of the last window is in the rings */
	unsigned int count; /* opened so far */
	uint64_t opened, closed; /* ns: this one, the last one */
	uint64_t due; /* ns: the next one */
	uint64_t placing; /* ns that placing the probes of this one took */
	int error; /* of the last placing of probes, reported already; 0: none */
};

/*
 * When the window after one that opens now is due, side_now() ns: at a whole multiple of the period
 * on the wall clock, which is to_real ns ahead, and later than the end of the one that opens.
 */
uint64_t windows_due(const struct windows *windows, uint64_t now, uint64_t to_real);

/* The first window: recording begins now. Its probes are in place. */
void windows_begin(struct capture *capture);

/* When the next one is due, from now on, by length and period as they are now. */
void windows_schedule(struct windows *windows);

/* The window that is open ends now; keep: groups of hot probes that stay (enum ub_group). */
void windows_close(struct capture *capture, unsigned int keep);

/*
 * Hot probes to be in place from now on, by groups: true once all are, see hot_place(). Each new
 * failure is printed and noted in the file, a lasting one once.
 */
bool windows_place(struct capture *capture, unsigned int groups);

/*
 * One begins as soon as these groups, and no others, are in place. false: some cannot be placed. A
 * window that lacked a layer would say that nothing happened there, so none begins.
 */
bool windows_open(struct capture *capture, unsigned int groups);

/* When windows_step() will have something to do, side_now() ns; UINT64_MAX: never. */
uint64_t windows_next(const struct windows *windows);

/* Opens or closes a window that is due. */
void windows_step(struct capture *capture);

/* Whether hot probes are in place and record. */
bool windows_recording(const struct windows *windows);
/* Whether they do, or are away and all threads have handed over their records. */
bool windows_settled(const struct windows *windows);

/* After the kernel was stopped: tells of the window that was open. */
void windows_end(struct capture *capture);

/* For the progress line: "" without windows. */
void windows_state(const struct windows *windows, char *text, unsigned int size);

#endif
