# SPDX-License-Identifier: BSD-3-Clause
"""
Faults that a machine with GPUs can have, and sound ones: how each is staged, and what a sweep must say
of it, no more and no less. The machine is a site of one node.
"""
from dataclasses import dataclass, field

from cases import TLS

IPC, STAGED = TLS["ipc"], TLS["staged"]


@dataclass
class Fault:
    name: str
    expect: list = field(default_factory=list)  # "VERDICT RULE SUBJECT": all; {rank}: one for each
    status: int = 0
    unknown_elsewhere: bool = False  # more that is unknown is as it should be
    ucx: str = "1.18.1"  # a folder of the bundle's
    set: dict = field(default_factory=dict)  # variables of the whole job
    rank: str = ""  # shell, before each rank: $local tells which one of the node it is
    gpus: bool = True  # the policy says that the node has them: all go, else host memory alone
    runtime: bool = True  # libcudart is where the loader looks
    without: str = ""  # a module that this UCX has not
    lines: str = ""  # of the policy, under "expect"
    rules: dict = field(default_factory=dict)  # settings of the policy; None: the catalogue's
    options: tuple = ("--max-size", "512K", "--max-count", "5")
    program: tuple = ()  # instead of a sweep: a traced job of a program in the bundle


# There is no GDRCopy in the bundle. Times are judged where the row is about them.
OFF = ("PATH-06", "PROTO-01", "PERF-03", "FAB-03")

# Not one message of GPU memory arrives: a rank ends by a signal, others wait for it.
CRASH = ["fail COV-03 {node}"]

ONE = 'if [ "$local" = 0 ]; then {}; fi'
HALF = 'if [ $((local % 2)) = 1 ]; then {}; fi'

FAULTS = [
    # nothing is wrong
    Fault("none", set={"UCX_TLS": IPC}),
    Fault("none-1.13.1", ucx="1.13.1", set={"UCX_TLS": IPC}),
    Fault("none-1.22.0", ucx="1.22.0", set={"UCX_TLS": IPC}),
    Fault("none-host", gpus=False, set={"UCX_TLS": TLS["host"] + ",cma"}),
    Fault("none-protocols-v1", set={"UCX_TLS": IPC, "UCX_PROTO_ENABLE": "n"}),
    Fault("none-times", set={"UCX_TLS": IPC}, rules={rule: None for rule in OFF[1:]},
          options=("--max-size", "4M", "--max-count", "20")),
    Fault("none-own-order", set={"UCX_TLS": IPC}, rank="export CUDA_VISIBLE_DEVICES=$backwards"),
    Fault("none-own-gpu-only", set={"UCX_TLS": IPC}, rank="export CUDA_VISIBLE_DEVICES=$local"),
    Fault("none-bcast", set={"UCX_TLS": IPC}, program=("gpu_coll", "bcast")),
    # cuda_ipc is off
    Fault("no-cuda-ipc", ["fail PATH-04 {node}"], 2, set={"UCX_TLS": STAGED}),
    Fault("no-cuda-ipc-1.13.1", ["fail PATH-04 {node}"], 2, ucx="1.13.1", set={"UCX_TLS": STAGED}),
    Fault("no-cuda-ipc-1.22.0", ["fail PATH-04 {node}"], 2, ucx="1.22.0", set={"UCX_TLS": STAGED}),
    Fault("no-cuda-ipc-protocols-v1", ["fail PATH-04 {node}"], 2,
          set={"UCX_TLS": STAGED, "UCX_PROTO_ENABLE": "n"}),
    Fault("no-cuda-ipc-on-one-rank", ["fail PATH-04 {node}"], 2, set={"UCX_TLS": IPC},
          rank=ONE.format(f"export UCX_TLS={STAGED}")),
    Fault("no-cuda-ipc-on-half", ["fail PATH-04 {node}"], 2, set={"UCX_TLS": IPC},
          rank=HALF.format(f"export UCX_TLS={STAGED}")),
    Fault("over-the-network", ["fail PATH-03 {node}", "fail PATH-04 {node}"], 2,
          set={"UCX_TLS": "cuda_copy,tcp,self", "UCX_NET_DEVICES": "lo"}),
    # it is on, and messages go through the host's memory all the same
    Fault("staged-eager", ["fail PATH-04 {node}"], 2, set={"UCX_TLS": IPC, "UCX_RNDV_THRESH": "inf"}),
    Fault("staged-rendezvous", ["fail PATH-04 {node}"], 2, set={"UCX_TLS": IPC, "UCX_RNDV_SCHEME": "am"}),
    Fault("staged-by-policy", ["fail PATH-01 {node}"], 2, set={"UCX_TLS": STAGED},
          lines="{ loc: intra, mem: cuda-cuda, size: [64K, inf], staging: none }",
          rules={"PATH-04": "{ severity: off }"}),
    Fault("no-gdr-copy", ["fail PATH-06 {node}"], 2, set={"UCX_TLS": IPC}, rules={"PATH-06": None}),
    # on another device than it should be
    Fault("one-gpu-for-all", ["fail COV-03 {node}"], 2, set={"UCX_TLS": IPC, "CUDA_VISIBLE_DEVICES": "0"}),
    Fault("one-gpu-for-all-1.13.1", ["fail COV-03 {node}"], 2, ucx="1.13.1",
          set={"UCX_TLS": IPC, "CUDA_VISIBLE_DEVICES": "0"}),
    Fault("one-rank-on-anothers-gpu", ["fail COV-03 {node}"], 2, set={"UCX_TLS": IPC},
          rank=ONE.format("export CUDA_VISIBLE_DEVICES=$backwards")),
    # settings
    Fault("misspelt", ["fail CFG-01 {node}"], 1, set={"UCX_TLS": IPC, "UCX_RNDV_TRESH": "64k"}),
    Fault("misspelt-on-one-rank", ["fail CFG-01 {node}"], 1, set={"UCX_TLS": IPC},
          rank=ONE.format("export UCX_CUDA_IPC_CASHE=y")),
    # not by UCX, or by one that knows nothing of GPUs
    Fault("not-ucx", ["fail PATH-11 {node}:rank{rank}", "fail COV-03 {node}"], 2, gpus=False,
          set={"OMPI_MCA_pml": "ob1"}),
    Fault("not-ucx-gpu", ["fail PATH-11 {node}:rank{rank}", *CRASH], 2, unknown_elsewhere=True,
          set={"OMPI_MCA_pml": "ob1"}),
    Fault("no-cuda-in-tls", ["fail PATH-10 {node}", *CRASH], 2, unknown_elsewhere=True,
          set={"UCX_TLS": TLS["host"] + ",cma"}),
    Fault("no-cuda-module", ["fail PATH-10 {node}", *CRASH], 2, unknown_elsewhere=True,
          without="libuct_cuda.so.0", set={"UCX_TLS": IPC}),
    Fault("no-cuda-runtime", ["fail PATH-10 {node}", *CRASH], 2, unknown_elsewhere=True,
          ucx="1.13.1", runtime=False, set={"UCX_TLS": IPC}),
    # collectives
    Fault("reduced-on-the-host", ["fail PROTO-03 {node}"], 1, program=("gpu_coll", "allreduce"),
          set={"UCX_TLS": IPC, "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
               "OMPI_MCA_coll_tuned_allreduce_algorithm": "4"}),
]
