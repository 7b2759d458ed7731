/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep's part on each node: takes the inventory, traces the processes that it is told of, takes
 * the inventory again. It is started once per node and speaks lines with whoever started it, so
 * that a sweep needs one connection per node:
 *
 *   it says         before STATUS     nodes/NODE/before.json is there, or not
 *   it is told      trace NAME PID,PID...
 *   it says         ready             nodes/NODE/NAME.ucxb records; nothing if it cannot be
 *   it says         traced STATUS     the processes have ended
 *   it is told      end
 *   it says         after STATUS      and ends
 *
 * When its standard input ends, it ends what it has started, and itself: nothing stays behind.
 */
#ifndef UCXBPF_SWEEP_NODE_H
#define UCXBPF_SWEEP_NODE_H

/* folder: nodes/NODE of the sweep. Returns the exit status. */
int sweep_node(const char *folder);

#endif
