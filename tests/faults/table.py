# SPDX-License-Identifier: BSD-3-Clause
"""Faults as sites have them: how each is staged here, and what a sweep must say of it, no more and no less."""
import os
import signal
import time
from dataclasses import dataclass, field
from typing import Callable

SMALL = ["--variant", "all-pairs", "--max-size", "1M", "--max-count", "5"]
RAILS = {"UCX_NET_DEVICES": "eth0,eth1", "UCX_MAX_RNDV_RAILS": "2"}


def nothing(bed, job):
    pass


@dataclass
class Fault:
    name: str
    expect: list  # "VERDICT RULE SUBJECT", all of them
    status: int
    unknown_elsewhere: bool = False  # more that is unknown is as it should be
    nodes: int = 3
    rails: int = 1
    ranks: int = 2
    mpi: str = "openmpi"
    launcher: str = "hosts"
    environment: dict = field(default_factory=dict)  # of the whole job
    rank: str = ""  # shell, before each rank: $(hostname) tells the node, $prefix is run before it
    tracer: str = ""  # likewise, before each node's part of the sweep
    before: dict = field(default_factory=dict)  # node -> shell; what it changes, after takes back
    after: dict = field(default_factory=dict)
    during: Callable = nothing
    wrecks: bool = False  # the bed is not used again
    rules: dict = field(default_factory=dict)  # of the policy; None: the catalogue's settings
    class_more: str = ""  # more of the class
    options: list = field(default_factory=lambda: SMALL)


def on(node, *lines):
    """Shell for one node alone."""
    return f'if [ "$(hostname)" = {node} ]; then\n' + "\n".join(lines) + "\nfi"


def second_rank(node, *lines):
    return f'if [ "$(hostname)" = {node} ] && [ "$OMPI_COMM_WORLD_LOCAL_RANK" = 1 ]; then\n' + "\n".join(lines) + "\nfi"


def starve_tracer(bed, job):
    """The tracer of n2 gets no CPU while the ranks work: its rings overflow."""
    if bed.wait_for_go(job):
        tracer = bed.tracer("n2")
        os.kill(tracer, signal.SIGSTOP)
        try:
            while job.poll() is None and any(os.path.exists(f"/proc/{pid}") for pid in bed.pids("n2")):
                time.sleep(0.1)
        finally:
            os.kill(tracer, signal.SIGCONT)


def hang(bed, job):
    """A rank stops in mid-traffic."""
    if bed.wait_for_go(job):
        time.sleep(2)
        os.kill(bed.pids("n2")[0], signal.SIGSTOP)


def crash(bed, job):
    if bed.wait_for_go(job):
        time.sleep(2)
        os.kill(bed.pids("n2")[0], signal.SIGKILL)


FLOOD = """
import socket, sys, time
end = time.monotonic() + 60
if sys.argv[1] == "in":
    server = socket.create_server(("", 7777))
    peer = server.accept()[0]
    while peer.recv(1 << 20):
        pass
else:
    peer = socket.create_connection(("10.77.0.11", 7777))
    while time.monotonic() < end:
        peer.sendall(bytes(1 << 20))
        time.sleep(0.01)
"""


def foreign_traffic(bed, job):
    """Somebody else's transfer from n0 to n1 over the same network."""
    script = bed.folder / "flood.py"
    script.write_text(FLOOD)
    ends = [bed.start("n1", f"exec /usr/bin/python3 {script} in")]
    time.sleep(0.5)
    ends.append(bed.start("n0", f"exec /usr/bin/python3 {script} out"))
    try:
        job.wait(timeout=60)
    finally:
        for end in ends:
            os.killpg(end.pid, signal.SIGKILL)
            end.wait()


# A copy of UCX with another build id.
COPY = """
ucx=$(dirname "$0")/ucx
if mkdir "$ucx" 2>/dev/null; then
	cp -a /usr/lib/x86_64-linux-gnu/libuc[pmts].so.0* /usr/lib/x86_64-linux-gnu/ucx "$ucx/"
	objcopy --dump-section .note.gnu.build-id="$ucx/id" "$ucx/libucp.so.0.0.0" /dev/null
	{ head -c 16 "$ucx/id"; head -c 20 /dev/zero; } >"$ucx/new"
	objcopy --update-section .note.gnu.build-id="$ucx/new" "$ucx/libucp.so.0.0.0"
fi
export LD_LIBRARY_PATH=$ucx"""

NODES = ("n0", "n1", "n2")
PAIRS = [f"{a}>{b}" for a in NODES for b in NODES if a != b]

FAULTS = [
    Fault("none", [], 0),
    Fault("none-slurm", [], 0, launcher="slurm"),
    Fault("none-mpich", [], 0, ranks=1, mpi="mpich"),
    Fault("none-rails", [], 0, rails=2, environment=RAILS, class_more=", rails: 2"),
    # wrong or missing transports; what differs in the environment is named, too
    Fault("tls-on-one-node", ["fail CFG-01 n2", "fail PATH-01 n2", "fail PATH-03 n2"], 2,
          rank=on("n2", "export UCX_TLS=tcp,self")),
    Fault("no-cma-on-one-node", ["fail CFG-01 n2", "fail PATH-01 n2", "fail PATH-03 n2"], 2,
          rank=on("n2", "export UCX_TLS=tcp,sysv,self")),
    Fault("module-missing", ["fail PATH-01 n2", "fail PATH-03 n2"], 2,
          before={"n2": "mount --bind /dev/null /usr/lib/x86_64-linux-gnu/ucx/libuct_cma.so.0.0.0"},
          after={"n2": "umount /usr/lib/x86_64-linux-gnu/ucx/libuct_cma.so.0.0.0"}),
    Fault("own-ipc-namespaces", ["fail PATH-01 n2", "fail PATH-03 n2"], 2,
          rank=on("n2", 'prefix="unshare --ipc"')),
    # UCX 1.13.1 ends the process whose process_vm_readv() is refused
    Fault("own-user-namespaces", ["fail COV-03 n2"], 2, unknown_elsewhere=True,
          rank=on("n2", 'prefix="unshare --user --map-root-user"')),
    Fault("not-ucx", [f"fail PATH-11 n{r // 2}:rank{r}" for r in range(6)] +
          [f"fail COV-03 {node}" for node in NODES] + [f"fail COV-02 {node}:eth0" for node in NODES], 2,
          environment={"OMPI_MCA_pml": "ob1"}),
    # Open MPI starts no such job
    Fault("two-pmls", ["fail CFG-01 n2"], 3, unknown_elsewhere=True,
          rank=on("n2", "export OMPI_MCA_pml=ob1")),
    Fault("copies-on-one-node", ["fail CFG-01 n2", "fail PATH-05 n2", "fail PROTO-02 n2"], 1,
          rank=on("n2", "export UCX_RNDV_THRESH=inf")),
    Fault("second-ucx", ["fail COV-06 n2"], 2, rank=second_rank("n2", COPY)),
    # networks
    Fault("management-network", [f"fail PATH-02 {pair}" for pair in PAIRS], 2, rails=2, ranks=1,
          environment={"UCX_NET_DEVICES": "eth1"},
          rules={"PATH-02": "{ management: [eth1] }", "RAIL-02": "{ severity: off }"}),
    Fault("rail-down", ["fail RAIL-05 n2:eth1"], 2, rails=2, ranks=1, rules={"RAIL-02": "{ severity: off }"},
          before={"n2": "ip link set eth1 down"}, after={"n2": "ip link set eth1 up"}),
    Fault("rail-missing", ["fail RAIL-05 n2:eth1", "unknown COV-02 n2:eth1"], 2, rails=2, ranks=1,
          rules={"RAIL-02": "{ severity: off }"},
          before={"n2": "ip link set eth1 down; ip link set eth1 name lan1"},
          after={"n2": "ip link set lan1 name eth1; ip link set eth1 up"}),
    Fault("one-of-two-rails", [f"fail RAIL-0{n} {node}" for n in (1, 2) for node in NODES], 2, rails=2,
          ranks=1, environment={**RAILS, "UCX_MAX_RNDV_RAILS": "1"}, class_more=", rails: 2"),
    Fault("wrong-rate", [f"fail RAIL-05 {node}:eth0" for node in NODES], 2, ranks=1,
          class_more=", nic_rate: 100Gb/s"),
    Fault("foreign-traffic", ["fail COV-02 n0:eth0", "fail COV-02 n1:eth0"], 2, ranks=1,
          during=foreign_traffic),
    # protocols
    Fault("protocols-v2-on-one-node", ["fail CFG-01 n2", "fail PATH-05 n2"], 1,
          rank=on("n2", "export UCX_PROTO_ENABLE=y")),
    Fault("zero-copy-off-on-one-node", ["fail CFG-01 n2"], 1, ranks=1,
          rank=on("n2", "export UCX_ZCOPY_THRESH=inf")),
    # settings
    Fault("unknown-name", ["fail CFG-01 n2"], 1, ranks=1, rank=on("n2", "export UCX_TLSS=all")),
    Fault("unknown-name-everywhere", [f"fail CFG-01 {node}" for node in NODES], 1, ranks=1,
          environment={"UCX_TLSS": "all"}),
    # evidence: of what is not seen nothing may pass, and nobody is to blame
    Fault("tracer-starved", ["fail COV-01 all captures"], 2, during=starve_tracer, ranks=1,
          unknown_elsewhere=True,
          options=["--variant", "all-pairs", "--max-size", "8K", "--max-count", "2000"]),
    Fault("tracer-not-allowed", ["unknown COV-03 n2", "unknown COV-04 all captures"], 3, ranks=1,
          tracer=on("n2", 'prefix="setpriv --bounding-set -bpf,-perfmon,-sys_admin '
                    '--inh-caps -bpf,-perfmon,-sys_admin"')),
    Fault("dead-node", ["unknown COV-03 n2"], 3, ranks=1, launcher="slurm", wrecks=True,
          before={"n2": 'kill -9 "$(cat "${SLURM_CONF%/*}/slurmd.n2.pid")"',
                  "n0": "scontrol update nodename=n2 state=down reason=fault"}),
    Fault("unreachable-node", ["unknown COV-03 n2"], 3, ranks=1, tracer=on("n2", "exit 255")),
    Fault("hung-rank", ["fail COV-03 n2"], 2, during=hang, unknown_elsewhere=True,
          options=["--variant", "all-pairs", "--max-size", "8K", "--max-count", "2000", "--limit", "40"]),
    Fault("dead-rank", ["fail COV-03 n2"], 2, during=crash, unknown_elsewhere=True,
          options=["--variant", "all-pairs", "--max-size", "8K", "--max-count", "3000"]),
]
