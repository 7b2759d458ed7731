# SPDX-License-Identifier: BSD-3-Clause
# Bare UCP, no MPI: tagged messages, active messages, streams, put, get, atomics, flush.

load ../lib/live.bash

PROGRAMS="ucp_tag ucp_am ucp_stream ucp_rma"

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

@test "ucp over shm" { matrix ucp shm $PROGRAMS; }

@test "ucp over sysv" { matrix ucp sysv $PROGRAMS; }

@test "ucp over tcp" { matrix ucp tcp $PROGRAMS; }
