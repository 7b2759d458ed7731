# SPDX-License-Identifier: BSD-3-Clause
# --count: the sums are exactly the programs' numbers, as with records.

load ../lib/live.bash

export TRACE_OPTIONS=--count CHECK_OPTIONS=--count

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

P2P="mpi_send mpi_isend mpi_persistent mpi_sizes"

@test "openmpi over shm" { matrix openmpi shm $P2P; }

@test "openmpi over tcp" { matrix openmpi tcp $P2P; }

@test "mpich over shm" { matrix mpich shm $P2P; }

@test "mpich over tcp" { matrix mpich tcp $P2P; }

@test "bare UCP over shm" { matrix ucp shm ucp_tag ucp_am ucp_rma ucp_stream; }
