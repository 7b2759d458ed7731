# SPDX-License-Identifier: BSD-3-Clause
"""
Faults that sites have had, by number: rows of table.py name these in `of`. GPU: rows of tests/gpu/faults.py that stage
one. GUEST: jobs of tests/guest/verbs and places that do, by what tests/guest/compare and tests/data/verdicts.txt call
them. NEVER: why nothing does.
"""

FIELD = {
    1: ("small GPU messages are slow: the loader does not find libgdrapi", "GPU-to-GPU study, Charm++ study"),
    2: ("gdr_copy is missing at run time, although UCX was built with it", "openucx/ucx#7917"),
    3: ("gdrdrv is loaded, but its device node is missing on one node", "NVIDIA/gdrcopy#234, #334"),
    4: ("a plug-in of UCX is in another prefix: data goes over the public network", "openucx/ucx#9727"),
    5: ("UCX was built against libraries that compute nodes lack: no InfiniBand", "openucx/ucx#7245"),
    6: ("the vendor's and upstream's verbs are mixed: neither rc nor dc", "openucx/ucx#4770"),
    7: ("UCX_NET_DEVICES seems to be ignored: not UCX, or another transport, moves the data", "openucx/ucx#10049"),
    8: ("Open MPI does not use UCX", "open-mpi/ompi#11419"),
    9: ("some ranks use ob1, some UCX", "open-mpi/ompi#9617"),
    10: ("two containers of a host are slow, since namespaces separate them", "openucx/ucx#10070, #3156"),
    11: ("a cgroup hides the peer's GPU", "open-mpi/ompi#11949, NVIDIA/nccl#1066"),
    12: ("GPUs of one node communicate over the network adapter: cuda_ipc is not active", "ai-dynamo/nixl#1195"),
    13: ("GPUs of one node communicate over TCP", "ai-dynamo/nixl#1097"),
    14: ("all traffic within a node goes through adapters, since a transport is switched off", "ucTrace, GROMACS"),
    15: ("one release of UCX is broken, others work", "rapidsai/ucxx#734"),
    16: ("process_vm_readv is refused in a container", "openucx/ucx#8958, #10404"),
    17: ("each process has its own namespace: no shared memory, but the network", "openucx/ucx#4224"),
    18: ("processes of one node communicate over TCP and lo", "openucx/ucx#10016"),
    19: ("shared memory is slower than the network: copied twice, or by the wrong mechanism",
         "openucx/ucx#10317, #8227"),
    20: ("ranks use two adapters where one is expected", "open-mpi/ompi#7857"),
    21: ("GPUs that are equally near to two adapters all take the first", "openucx/ucx#8401"),
    22: ("all GPUs use the first adapter, however far it is", "openucx/ucx#11259"),
    23: ("some adapters carry all data, others are idle", "openucx/ucx#11680"),
    24: ("two rails are both ports of one adapter", "openucx/ucx#9520"),
    25: ("only one path of a bond is used", "openucx/ucx#10430, #10649"),
    26: ("sometimes not all rails are used", "openucx/ucx#10548"),
    27: ("GPU memory goes through host memory: no GPUDirect", "openucx/ucx#10871"),
    28: ("GPU and adapter are on two NUMA nodes: data is staged although RDMA works", "openucx/ucx#11121"),
    29: ("data from the GPU is 20 times slower than to it", "openucx/ucx#3984"),
    30: ("data takes another path since the driver was updated", "openucx/ucx#10868"),
    31: ("a GPU's memory is treated as the host's", "openucx/ucx#2755, #4767, #3210"),
    32: ("memory cannot be exported (VMM, pools)", "openucx/ucx#7110, #9895"),
    33: ("managed memory is sent in tiny pieces", "openucx/ucx#4513, #8049"),
    34: ("eager switches to rendezvous at another size than before", "openucx/ucx#11091"),
    35: ("rendezvous begins too early on some transport", "openucx/ucx#1832"),
    36: ("a hump: smaller messages take longer than larger ones", "openucx/ucx#7442"),
    37: ("protocol v2 selects bad protocols", "openucx/ucx#9690"),
    38: ("RoCE versions or traffic classes differ between two ends", "openucx/ucx#7785, #4512, #10325"),
    39: ("too many endpoint configurations: different kinds of nodes are mixed", "openucx/ucx#8730"),
    40: ("the order of adapters differs on some nodes", "NVIDIA/nccl#820"),
    41: ("data reaches two thirds of the link's rate: PCIe ACS, no GPUDirect", "NVIDIA/nccl-tests#112"),
    42: ("retries: cables, links between switches", "openucx/ucx#9590, #6000"),
    43: ("a silent hang: one node opens fewer adapters than its peers", "NVIDIA/nccl#2428"),
    44: ("a GPU's collective reduces on the host", "pmodels/mpich#5171, open-mpi/ompi#12045"),
}

GPU = {
    1: ("no-gdr-copy",), 2: ("no-gdr-copy",), 4: ("no-cuda-module",), 8: ("not-ucx", "not-ucx-gpu"),
    12: ("no-cuda-ipc", "over-the-network"), 13: ("over-the-network",),
    14: ("no-cuda-ipc", "no-cuda-ipc-on-one-rank", "over-the-network"), 27: ("staged-by-policy", "staged-rendezvous"),
    31: ("no-cuda-runtime", "no-cuda-in-tls"), 44: ("reduced-on-the-host",),
}

GUEST = {5: ("fallback",), 6: ("ud", "fallback"), 23: ("idle",), 24: ("ports",), 38: ("addresses",)}

NEVER = {
    3: "needs two nodes with GPUs and GDRCopy",
    11: "needs GPUs in separate cgroups",
    21: "needs several adapters beside GPUs",
    22: "needs several adapters beside GPUs",
    25: "needs a kernel with bonding",
    28: "needs adapters and GPUs on two NUMA nodes",
    29: "needs an adapter beside a GPU",
    32: "as a sweep; from captures of GPUs: `tests/data/gpu`",
    33: "as a sweep; from captures of GPUs: `tests/data/gpu`",
    36: "needs times that noise does not hide; from synthetic ledgers: `tests/unit/judge_times_test.c`",
    39: "needs kinds of nodes whose lanes differ so much that UCX gives up",
}
