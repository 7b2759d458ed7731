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

struct windows {
	uint64_t length, period; /* ns; length 0: one window without an end, not told of */
	bool open;
	unsigned int count; /* opened so far */
	uint64_t opened, due; /* ns: when this one was opened, when the next one is due */
	uint64_t placing; /* ns that placing the probes of this one took */
};

/* The first window: recording begins now. Its probes are in place. */
void windows_begin(struct capture *capture);

/* Opens or closes a window that is due. */
void windows_step(struct capture *capture);

/* After the kernel was stopped: tells of the window that was open. */
void windows_end(struct capture *capture);

/* For the progress line: "" without windows. */
void windows_state(const struct windows *windows, char *text, unsigned int size);

#endif
