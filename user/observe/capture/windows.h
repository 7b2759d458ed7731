/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A duty cycle: the hot probes are in place for a while, then removed until the next window is due.
 * A window begins and ends for all sites at one instant, which is in the file (side record
 * "window").
 */
#ifndef UCXBPF_CAPTURE_WINDOWS_H
#define UCXBPF_CAPTURE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

struct capture_session;

#define WINDOWS_ENDLESS UINT64_MAX

struct windows {
	/* ns; length 0: one unreported window without an end; ENDLESS: until windows_close() */
	uint64_t length, period;
	bool governed; /* opened and closed by a budget (budget.h) */
	/* governed: this window's step (governor_step_name()) and reason, both static */
	const char *step, *reason;
	double paid; /* cost before it, a share of a thread's time */
	bool open;
	bool collected; /* outboxes of the last window are in the rings */
	unsigned int count; /* opened so far */
	uint64_t opened, closed; /* ns: this one, the last one */
	uint64_t due; /* ns: the next one */
	uint64_t placing; /* ns that placing the probes of this one took */
	int error; /* error of the last placing of probes, already reported; 0: none */
};

/*
 * When the window after one that opens now is due, side_now() ns: at a whole multiple of the period
 * on the wall clock, which is to_real ns ahead, and later than the end of the one that opens.
 */
uint64_t windows_due(const struct windows *windows, uint64_t now, uint64_t to_real);

/* The first window: recording begins now. Its probes are in place. */
void windows_begin(struct capture_session *capture);

/* Computes when the next one is due, by the present length and period. */
void windows_schedule(struct windows *windows);

/* Ends the open window now; keep: groups of hot probes that stay (enum ub_group). */
void windows_close(struct capture_session *capture, unsigned int keep);

/*
 * Sets the groups of hot probes in place; true once all are (hot_place()). Each new
 * failure is printed and noted in the file, a lasting one once.
 */
bool windows_place(struct capture_session *capture, unsigned int groups);

/*
 * Opens a window once exactly these groups are in place. false: some cannot be placed: a window
 * that lacked a layer would claim that nothing happened there.
 */
bool windows_open(struct capture_session *capture, unsigned int groups);

/* When windows_step() has its next work, side_now() ns; UINT64_MAX: never. */
uint64_t windows_next(const struct windows *windows);

/* Opens or closes a window that is due. */
void windows_step(struct capture_session *capture);

/* Whether hot probes are in place and record. */
bool windows_recording(const struct windows *windows);
/* Whether they do, or are removed and all outboxes are drained. */
bool windows_settled(const struct windows *windows);

/* To be called after the kernel was stopped: reports the window that was open. */
void windows_end(struct capture_session *capture);

/* For the progress line: "" without windows. */
void windows_state(const struct windows *windows, char *text, unsigned int size);

#endif
