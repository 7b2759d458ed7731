# SPDX-License-Identifier: BSD-3-Clause
# Where order, wildcards, threads or communicators decide which send met which receive.

load ../lib/live.bash

PROGRAMS="mpi_wild mpi_probe mpi_threads mpi_comms"

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

@test "openmpi over shm" { matrix openmpi shm $PROGRAMS; }

@test "openmpi over sysv" { matrix openmpi sysv $PROGRAMS; }

@test "openmpi over tcp" { matrix openmpi tcp $PROGRAMS; }

@test "mpich over shm" { matrix mpich shm $PROGRAMS; }

@test "mpich over sysv" { matrix mpich sysv $PROGRAMS; }

@test "mpich over tcp" { matrix mpich tcp $PROGRAMS; }
