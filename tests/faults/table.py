# SPDX-License-Identifier: BSD-3-Clause
"""Faults as sites have them: how each is staged here, and what a sweep must say of it, no more and no less."""
import json
import os
import signal
import time
from dataclasses import dataclass, field
from typing import Callable

NODES = ("n0", "n1", "n2")
SMALL = ["--variant", "all-pairs", "--max-size", "1M", "--max-count", "5"]
RAILS = {"UCX_NET_DEVICES": "eth0,eth1", "UCX_MAX_RNDV_RAILS": "2"}
# Messages in copies of 8 KiB, in turn over both.
FRAGMENTS = {"UCX_PROTO_ENABLE": "y", "UCX_RNDV_THRESH": "inf", "UCX_ZCOPY_THRESH": "inf", "UCX_MAX_EAGER_RAILS": "2"}


def nothing(bed, job):
    pass


@dataclass
class Fault:
    name: str
    expect: list  # "VERDICT RULE SUBJECT", all of them
    status: int
    of: tuple = ()  # numbers of docs/faults.md
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
    debian13: bool = False  # needs $root, a root of Debian 13
    wrecks: bool = False  # the bed is not used again: a network that was down has lost its routes, for example
    rules: dict = field(default_factory=dict)  # of the policy: those that are not the catalogue's
    class_more: str = ""  # more of the class
    lines: tuple = ()  # of the policy's expect, before the others
    options: list = field(default_factory=lambda: SMALL)
    compared: bool = False  # with a sweep of before, by --baseline: of the same environment, without the rest
    then: dict = field(default_factory=dict)  # node -> shell, before that sweep


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


def rank_4(bed):
    """The first of n2, where each node has two."""
    return json.loads((bed.output / "ledger/n2.4.ndjson").read_text().split("\n")[0])["pid"]


def hang(bed, job):
    """A rank stops in mid-traffic."""
    if bed.wait_for_round(job, 4):
        os.kill(rank_4(bed), signal.SIGSTOP)


def crash(bed, job):
    if bed.wait_for_round(job, 4):
        os.kill(rank_4(bed), signal.SIGKILL)


def flap(bed, job):
    """The cable of a network that nothing goes over."""
    if bed.wait_for_go(job):
        bed.on("n2", "ip link set eth1 down; sleep 0.2; ip link set eth1 up")


def kill_tracer(bed, job):
    if bed.wait_for_round(job, 2):
        os.kill(bed.tracer("n2"), signal.SIGKILL)


FLOOD = """
import socket, sys, time
end = time.monotonic() + 300
if sys.argv[1] == "in":
    server = socket.create_server(("", 7777))
    peer = server.accept()[0]
    while peer.recv(1 << 20):
        pass
else:
    peer = None
    while not peer:
        try:
            peer = socket.create_connection((sys.argv[2], 7777))
        except ConnectionRefusedError:
            time.sleep(0.05)
    while time.monotonic() < end:
        peer.sendall(bytes(1 << 20))
        time.sleep(0.01)
"""


def foreign_traffic(network):
    """Somebody else's transfer from n0 to n1 over one of the networks."""
    def during(bed, job):
        script = bed.folder / "flood.py"
        script.write_text(FLOOD)
        ends = [bed.start("n1", f"exec /usr/bin/python3 {script} in"),
                bed.start("n0", f"exec /usr/bin/python3 {script} out 10.{77 + network}.0.11")]
        try:
            job.wait(timeout=300)
        finally:
            for end in ends:
                os.killpg(end.pid, signal.SIGKILL)
                end.wait()
    return during


# A copy of UCX with another build id.
COPY = """
ucx=$(dirname "$0")/ucx
if mkdir "$ucx" 2>/dev/null; then
	cp -a /usr/lib/x86_64-linux-gnu/libuc[pmts].so.0* /usr/lib/x86_64-linux-gnu/ucx "$ucx/"
	objcopy --dump-section .note.gnu.build-id="$ucx/id" "$ucx/libucp.so.0.0.0" /dev/null
	{ head -c 16 "$ucx/id"; head -c 20 /dev/zero; } >"$ucx/new"
	objcopy --update-section .note.gnu.build-id="$ucx/new" "$ucx/libucp.so.0.0.0"
	touch "$ucx/there"
fi
while [ ! -e "$ucx/there" ]; do sleep 0.05; done
export LD_LIBRARY_PATH=$ucx"""

# Debian 13's UCX 1.18.1 beside Debian 12's MPI; its C library and loader, since it is built for these. The loader
# comes last: what is not Debian 13's does not start any more.
NEWER = """
new=$(dirname "$0")/newer
if mkdir "$new" 2>/dev/null; then
	cd "$root/usr/lib/x86_64-linux-gnu"
	cp -aL libuc[pmts].so.0 libc.so.6 libm.so.6 ucx "$new/"
	cp -L ld-linux-x86-64.so.2 "$new/"
	cd "$OLDPWD"
	touch "$new/there"
fi
while [ ! -e "$new/there" ]; do sleep 0.05; done
prefix="unshare --mount $(dirname "$0")/newer-loader"
"""

# The rank that was traced is gone when all may begin; another one takes its place.
RESTART = """
for word; do
	case $word in --go=*) go=${word#--go=} ;; esac
done
$program "$@" &
while [ ! -e "${go%/*}/pids/$(hostname).$!" ]; do sleep 0.05; done
kill -STOP $!
while [ ! -e "$go" ]; do sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null"""

# These nodes share the cores of one machine: their networks are so slow that it matters little, and one of them,
# or a way between two, slower by much more.
FOUR = ("n0", "n1", "n2", "n3")
USUAL, SLOW = "50mbit", "2mbit"  # 64 KiB take 10 ms, or 262
# By its cores, 8 B take some 6 % longer between some of them.
TIMED = {"PERF-01": "{ one_machine: true, floor: 0.2 }", "PERF-02": "{ one_machine: true }"}
OFTEN = ["--variant", "all-pairs:4", "--max-size", "64K", "--max-count", "5"]


def shaped(rate, slow_to=None, slow=SLOW):
    """Shell for a node that sends at that rate, to one other node slowly."""
    lines = ["tc qdisc replace dev eth0 root handle 1: htb default 1",
             f"tc class add dev eth0 parent 1: classid 1:1 htb rate {rate} burst 16k quantum 1514",
             f"tc class add dev eth0 parent 1: classid 1:2 htb rate {slow} burst 16k quantum 1514"]
    if slow_to:
        lines.append("tc filter add dev eth0 parent 1: protocol ip u32 "
                     f"match ip dst 10.77.0.1{slow_to[1:]} flowid 1:2")
    return "\n".join(lines)


def slow(name, expect, status, **nodes):
    """Nodes that send more slowly than others, or than to others."""
    return Fault(name, expect, status, nodes=4, ranks=1, rules=TIMED, options=OFTEN,
                 before={node: nodes.get(node, shaped(USUAL)) for node in FOUR},
                 after={node: "tc qdisc del dev eth0 root" for node in FOUR})


# Large messages, the rate of the links told, and what they are judged by.
RATES = {rule: "{ one_machine: true }" for rule in ("PERF-03", "PERF-04")}
LARGE = ["--variant", "all-pairs", "--max-size", "1M", "--max-count", "5"]
LINK = "25mbit"  # 1 MiB takes 340 ms: what a busy machine adds is little


# Acknowledgements do not wait behind the data of the other direction: these links hold as much as is sent.
ACKNOWLEDGED = """
tc class replace dev eth0 parent 1: classid 1:3 htb rate 10gbit prio 0 quantum 1514
tc filter add dev eth0 parent 1: prio 1 protocol ip u32 match u16 0 0xff80 at 2 flowid 1:3"""


def rated(name, expect, status, of=(), options=LARGE, rules=RATES, **nodes):
    """Likewise, against what the links could carry; a tenth is left for headers, and for a busy machine."""
    return Fault(name, expect, status, of=of, nodes=4, ranks=1, rules=rules, options=options,
                 class_more=", nic_rate: 22Mb/s",
                 before={node: nodes.get(node, shaped(LINK)) + ACKNOWLEDGED for node in FOUR},
                 after={node: "tc qdisc del dev eth0 root" for node in FOUR})


def paced(rate):
    """Shell for a node of which each packet takes its time, the smallest, too: latencies are of the link, not of the
    machine."""
    return ("tc qdisc del dev eth0 root 2>/dev/null || :\ntc qdisc add dev eth0 root handle 1: htb default 1\n"
            f"tc class add dev eth0 parent 1: classid 1:1 htb rate {rate} burst 10b cburst 10b quantum 1514")


def slower(name, expect, status, rate):
    """Links that were at another rate in an earlier sweep."""
    return Fault(name, expect, status, ranks=1, compared=True, rules={
        "PERF-05": "{ one_machine: true, lower: 0.33, upper: 0.5 }"},
                 options=["--variant", "all-pairs", "--max-size", "1K", "--max-count", "7"],
                 then={node: paced("100kbit") for node in NODES}, before={node: paced(rate) for node in NODES},
                 after={node: "tc qdisc del dev eth0 root" for node in NODES})


# Each 32nd packet of a connection, by its number, waits for a class of 8 kbit/s.
TAIL = """tc qdisc replace dev eth0 root handle 1: htb default 1
tc class add dev eth0 parent 1: classid 1:1 htb rate 10gbit quantum 1514
tc class add dev eth0 parent 1: classid 1:2 htb rate 8kbit burst 10b cburst 10b quantum 1514
tc filter add dev eth0 parent 1: protocol ip u32 match ip protocol 6 0xff match u16 0 0x1f at 4 flowid 1:2"""


def tail(name, expect, status, shape):
    """Latencies alone, many of them. Where nodes share cores, p99 is 3 times p50 now and then, without a fault."""
    return Fault(name, expect, status, ranks=1, rules={"FAB-03": "{ one_machine: true, spread: 1, p99_over_p50: 6 }"},
                 options=["--variant", "sample:1", "--max-size", "8", "--max-count", "200"],
                 before={node: shape for node in NODES}, after={node: "tc qdisc del dev eth0 root" for node in NODES})


PAIRS = [f"{a}>{b}" for a in NODES for b in NODES if a != b]
# Long enough to be in the midst of it; a busy machine needs minutes for that.
MANY = ["--variant", "all-pairs", "--max-size", "8K", "--max-count", "1000", "--limit", "200"]


def everywhere(*rules):
    return [f"fail {rule} {node}" for rule in rules for node in NODES]


FAULTS = [
    Fault("none", [], 0),
    Fault("none-slurm", [], 0, launcher="slurm"),
    Fault("none-mpich", [], 0, ranks=1, mpi="mpich"),
    Fault("none-rails", [], 0, rails=2, environment=RAILS, class_more=", rails: 2"),
    # what is UCX's own choice, and lo among it
    Fault("none-any-device", [], 0, environment={"UCX_NET_DEVICES": "all"}),
    # wrong or missing transports; what differs in the environment is named, too
    Fault("tls-on-one-node", ["fail CFG-01 n2", "fail PATH-01 n2", "fail PATH-03 n2"], 2, of=(14,),
          rank=on("n2", "export UCX_TLS=tcp,self")),
    Fault("tls-on-one-node-slurm", ["fail CFG-01 n2", "fail PATH-01 n2", "fail PATH-03 n2"], 2, of=(14,),
          launcher="slurm", rank=on("n2", "export UCX_TLS=tcp,self")),
    Fault("tls-on-one-node-mpich", ["fail CFG-01 n2", "fail PATH-01 n2", "fail PATH-03 n2"], 2, of=(14,),
          mpi="mpich", rank=on("n2", "export UCX_TLS=tcp,self")),
    Fault("tls-everywhere", everywhere("PATH-01", "PATH-03"), 2, of=(14,),
          environment={"UCX_TLS": "tcp,self"}),
    Fault("loopback", ["fail PATH-01 n0", "fail PATH-03 n0"], 2, of=(18,), nodes=1,
          environment={"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}),
    Fault("no-cma-on-one-node", ["fail CFG-01 n2", "fail PATH-01 n2", "fail PATH-03 n2"], 2, of=(19,),
          rank=on("n2", "export UCX_TLS=tcp,sysv,self")),
    Fault("module-missing", ["fail PATH-01 n2", "fail PATH-03 n2"], 2, of=(4, 5),
          before={"n2": "mount --bind /dev/null /usr/lib/x86_64-linux-gnu/ucx/libuct_cma.so.0.0.0"},
          after={"n2": "umount /usr/lib/x86_64-linux-gnu/ucx/libuct_cma.so.0.0.0"}),
    Fault("own-ipc-namespaces", ["fail PATH-01 n2", "fail PATH-03 n2"], 2, of=(10, 17),
          rank=on("n2", 'prefix="unshare --ipc"')),
    Fault("own-boot-ids", ["fail PATH-01 n2", "fail PATH-03 n2"], 2, of=(10, 17),
          rank=on("n2", 'prefix="unshare --mount $(dirname "$0")/contain"')),
    # UCX 1.13.1 ends the process whose process_vm_readv() is refused
    Fault("own-user-namespaces", ["fail COV-03 n2"], 2, of=(16,), unknown_elsewhere=True,
          rank=on("n2", 'prefix="unshare --user --map-root-user"')),
    Fault("not-ucx", [f"fail PATH-11 n{r // 2}:rank{r}" for r in range(6)] +
          [f"fail COV-03 {node}" for node in NODES] + [f"fail COV-02 {node}:eth0" for node in NODES], 2,
          of=(7, 8), environment={"OMPI_MCA_pml": "ob1"}),
    # Open MPI starts no such job
    Fault("two-pmls", ["fail CFG-01 n2"], 3, of=(9,), unknown_elsewhere=True,
          rank=on("n2", "export OMPI_MCA_pml=ob1")),
    Fault("copies-on-one-node", ["fail CFG-01 n2", "fail PATH-05 n2", "fail PROTO-02 n2"], 1, of=(19, 34),
          rank=on("n2", "export UCX_RNDV_THRESH=inf")),
    Fault("copies-everywhere", everywhere("PATH-05"), 1, of=(19,), environment={"UCX_RNDV_THRESH": "inf"}),
    Fault("second-ucx", ["fail COV-06 n2"], 2, of=(4,), rank=second_rank("n2", COPY)),
    # 1.18's protocols switch elsewhere: eager where the others' use a rendezvous
    Fault("newer-ucx-on-one-node", ["fail CFG-01 n2", "fail COV-06 n2", "fail PROTO-02 n2"], 2, of=(15,), debian13=True,
          rank=on("n2", NEWER)),
    Fault("another-ucx-on-one-node", ["fail COV-06 n2"], 2, of=(5, 15), rank=on("n2", COPY)),
    # networks
    Fault("management-network", [f"fail PATH-02 {pair}" for pair in PAIRS], 2, of=(4, 5), rails=2, ranks=1,
          environment={"UCX_NET_DEVICES": "eth1"},
          rules={"PATH-02": "{ management: [eth1] }", "RAIL-02": "{ severity: off }"}),
    Fault("rail-down", ["fail RAIL-05 n2:eth1"], 2, rails=2, ranks=1, wrecks=True,
          rules={"RAIL-02": "{ severity: off }"},
          before={"n2": "ip link set eth1 down"}, after={"n2": "ip link set eth1 up"}),
    Fault("rail-missing", ["fail RAIL-05 n2:eth1", "unknown COV-02 n2:eth1"], 2, of=(43,), rails=2, ranks=1,
          wrecks=True, rules={"RAIL-02": "{ severity: off }"},
          before={"n2": "ip link set eth1 down; ip link set eth1 name lan1"},
          after={"n2": "ip link set lan1 name eth1; ip link set eth1 up"}),
    Fault("one-of-two-rails", everywhere("RAIL-01", "RAIL-02"), 2, of=(23, 26), rails=2,
          ranks=1, environment={**RAILS, "UCX_MAX_RNDV_RAILS": "1"}, class_more=", rails: 2"),
    Fault("fewer-rails-on-one-node", ["fail CFG-01 n2", "fail RAIL-01 n2"], 2, of=(26, 43), rails=2, ranks=1,
          environment=RAILS, class_more=", rails: 2", rules={"RAIL-02": "{ severity: off }"},
          rank=on("n2", "export UCX_NET_DEVICES=eth0")),
    Fault("two-rails-for-one", everywhere("RAIL-01"), 2, of=(20,), rails=2, ranks=1, environment=RAILS,
          class_more=", rails: 1", rules={"RAIL-02": "{ severity: off }"}),
    # The kernel sends by the peer's address, not by the NIC that UCX took: the counters (COV-02) say so of the node that
    # opened the connection, which is now one, now the other.
    Fault("other-nic-on-one-node", [f"fail AFF-04 {pair}" for pair in PAIRS if "n2" in pair] + ["fail CFG-01 n2"], 1,
          of=(40,), rails=2, ranks=1, rules={"RAIL-02": "{ severity: off }", "COV-02": "{ severity: off }"},
          rank=on("n2", "export UCX_NET_DEVICES=eth1")),
    Fault("wrong-rate", [f"fail RAIL-05 {node}:eth0" for node in NODES], 2, ranks=1,
          class_more=", nic_rate: 100Gb/s"),
    Fault("foreign-traffic", ["fail COV-02 n0:eth0", "fail COV-02 n1:eth0"], 2, ranks=1,
          during=foreign_traffic(0)),
    Fault("foreign-traffic-on-a-rail", ["fail COV-02 n0:eth1", "fail COV-02 n1:eth1"], 2, rails=2, ranks=1,
          environment=RAILS, class_more=", rails: 2", during=foreign_traffic(1)),
    Fault("link-flaps", ["fail FAB-04 n2:eth1"], 1, of=(42,), rails=2, ranks=1, wrecks=True,
          rules={"RAIL-02": "{ severity: off }"}, during=flap),
    # protocols
    # v2 sends eagerly what v1 sends by a rendezvous
    Fault("protocols-v2-on-one-node", ["fail CFG-01 n2", "fail PATH-05 n2", "fail PROTO-02 n2"], 1, of=(37,),
          rank=on("n2", "export UCX_PROTO_ENABLE=y")),
    Fault("zero-copy-off-on-one-node", ["fail CFG-01 n2"], 1, ranks=1,
          rank=on("n2", "export UCX_ZCOPY_THRESH=inf")),
    Fault("early-rendezvous-on-one-node", ["fail CFG-01 n2", "fail PROTO-02 n2"], 1, of=(34, 35), ranks=1,
          rank=on("n2", "export UCX_RNDV_THRESH=1k")),
    Fault("put-on-one-node", ["fail CFG-01 n2", "fail PROTO-02 n2"], 1, of=(34,),
          rank=on("n2", "export UCX_RNDV_SCHEME=put_zcopy")),
    Fault("early-rendezvous-on-one-node-mpich", ["fail CFG-01 n2", "fail PROTO-02 n2"], 1, of=(34, 35), ranks=1,
          mpi="mpich", rank=on("n2", "export UCX_RNDV_THRESH=1k")),
    Fault("never-rendezvous", [f"fail PATH-01 {pair}" for pair in PAIRS], 2, of=(34,), ranks=1,
          environment={"UCX_RNDV_THRESH": "inf"},
          lines=("{ loc: inter, size: [512K, inf], tl: [tcp], proto: ['rndv*'] }",)),
    # settings
    Fault("unknown-name", ["fail CFG-01 n2"], 1, ranks=1, rank=on("n2", "export UCX_TLSS=all")),
    Fault("unknown-name-mpich", ["fail CFG-01 n2"], 1, mpi="mpich", ranks=1,
          rank=on("n2", "export UCX_TLSS=all")),
    Fault("unknown-name-everywhere", everywhere("CFG-01"), 1, ranks=1, environment={"UCX_TLSS": "all"}),
    # times: who is slow is slow when it is looked at again, too
    slow("none-slow", [], 0),
    slow("slow-node", ["fail PERF-01 n2"], 2, n2=shaped(SLOW)),
    slow("slow-pair", ["fail PERF-02 n0<>n1"], 1, n0=shaped(USUAL, "n1"), n1=shaped(USUAL, "n0")),
    slow("slow-direction", ["fail PERF-02 n1<>n3"], 1, n3=shaped(USUAL, "n1")),
    tail("long-tail", ["fail FAB-03 inter.host-host"], 1, TAIL),
    tail("none-tail", [], 0, paced("100kbit")),
    rated("none-rated", [], 0, options=[*LARGE, "--collective"]),
    rated("two-thirds-of-the-rate", ["fail PERF-03 n2"], 1, of=(41,), n2=shaped("16mbit"),
          **{node: shaped(LINK, "n2", "16mbit") for node in ("n0", "n1", "n3")}),
    rated("sends-below-the-rate", ["fail PERF-03 n2"], 1, of=(41,), n2=shaped("18mbit"),
          options=["--variant", "all-pairs:2", *LARGE[2:]]),
    rated("slow-alltoall", ["fail PERF-04 all nodes"], 0, n2=shaped("10mbit"), options=[*LARGE, "--collective"],
          rules={"PERF-04": RATES["PERF-04"]}),
    slower("none-compared", [], 0, "100kbit"),
    slower("slower-than-before", [f"fail PERF-05 inter.host-host.{size}" for size in (8, 1024)], 1, "50kbit"),
    Fault("another-way-than-before", [f"fail PERF-05 way of inter.host-host.{size << 10}" for size in (64, 512, 1024)],
          1, of=(30, 34), ranks=1, compared=True, rank="export UCX_RNDV_THRESH=inf"),
    Fault("new-protocols-than-before",
          [f"fail PERF-05 way of inter.host-host.{size << 10}" for size in (1, 8, 64, 512, 1024)], 1, of=(30, 37),
          ranks=1, compared=True, rank="export UCX_PROTO_ENABLE=y"),
    Fault("uneven-fragments", everywhere("RAIL-03"), 1, rails=2, ranks=1,
          environment={**RAILS, **FRAGMENTS}, options=["--variant", "all-pairs", "--max-size", "20K"],
          lines=("{ loc: inter, size: [0, 20K], tl: [tcp] }",)),
    Fault("one-rail-one-way", ["fail CFG-01 n2", "fail RAIL-02 n2", "fail PATH-12 n0<>n2", "fail PATH-12 n1<>n2"], 2,
          of=(26,), rails=2, ranks=1, environment={**RAILS, "UCX_RNDV_THRESH": "inf", "UCX_MAX_EAGER_RAILS": "2"},
          rank=on("n2", "export UCX_MAX_EAGER_RAILS=1")),
    # evidence: of what is not seen nothing may pass, and nobody is to blame
    Fault("tracer-starved", ["fail COV-01 n2"], 2, during=starve_tracer, ranks=1,
          unknown_elsewhere=True, options=MANY),
    Fault("tracer-killed", ["unknown COV-01 n2"], 3, during=kill_tracer, ranks=1,
          unknown_elsewhere=True, options=MANY),
    Fault("tracer-cannot-write", ["unknown COV-01 n2"], 3, ranks=1, unknown_elsewhere=True,
          tracer=on("n2", "trap '' XFSZ; ulimit -f 64"), options=MANY),
    Fault("tracer-not-allowed", ["unknown COV-03 n2", "unknown COV-04 n2", "unknown COV-04 all captures"], 3,
          ranks=1, tracer=on("n2", 'prefix="setpriv --bounding-set -bpf,-perfmon,-sys_admin '
                             '--inh-caps -bpf,-perfmon,-sys_admin"')),
    Fault("dead-node", ["unknown COV-03 n2"], 3, ranks=1, launcher="slurm", wrecks=True,
          before={"n2": 'kill -9 "$(cat "${SLURM_CONF%/*}/slurmd.n2.pid")"',
                  "n0": "scontrol update nodename=n2 state=down reason=fault"}),
    Fault("unreachable-node", ["unknown COV-03 n2"], 3, ranks=1, tracer=on("n2", "exit 255")),
    Fault("rank-not-started", ["fail COV-03 n2"], 2, unknown_elsewhere=True,
          rank=second_rank("n2", "exec sleep 20"), options=[*SMALL, "--answer", "10"]),
    Fault("restarted-rank", ["fail COV-02 n2:eth0", "fail COV-03 n2"], 2, ranks=1, unknown_elsewhere=True,
          rank=on("n2", RESTART)),
    Fault("hung-rank", ["fail COV-03 n2", "fail COV-04 n2:rank4"], 2, of=(43,), during=hang,
          unknown_elsewhere=True, options=[*MANY[:-1], "60"]),
    Fault("dead-rank", ["fail COV-03 n2"], 2, during=crash, unknown_elsewhere=True, options=MANY),
]
