# SPDX-License-Identifier: BSD-3-Clause
"""The cases of scripts/gpu-check, the most telling ones first: a row each."""
from collections import namedtuple

# name      of the case: what a folder with its capture is called
# program   in tests/gpu, of C or Python, and its arguments behind the devices
# devices   of the ranks: see DEVICES
# ucx       a folder of the bundle's, or "stock": the machine's own
# proto     UCX_PROTO_ENABLE
# way       see TLS
# scheme    UCX_RNDV_SCHEME, "": UCX's choice
# runtime   how the program is linked to the CUDA runtime; own: it brings its own
# late      attached to after all memory was made and messages were sent
Case = namedtuple("Case", "name program arguments devices ucx proto way scheme runtime late")

# The transports that UCX may use.
TLS = {"ipc": "cuda_copy,cuda_ipc,posix,self,cma", "staged": "cuda_copy,posix,self,cma",
       "shm": "cuda_copy,posix,self", "host": "posix,self"}

# What a rank's device is (choose_device() in ledger.h), the GPUs that it takes, and whether each
# rank is started with only its own to be seen.
DEVICES = {"same": ("0", 1, False), "peer": ("0,1", 2, False), "setenv": ("setenv:0,1", 2, False),
           "environ": ("0", 2, True), "ring": (None, 2, False)}

KINDS = {
    "plain": "cudaMalloc cudaMallocPitch cudaMallocManaged cudaMallocHost cudaHostRegister malloc",
    "pool": "cudaMallocAsync cudaMallocFromPoolAsync",
    "vmm": "vmm vmm_pieces",
    "mapped": "vmm",  # of one handle: UCX 1.18.1 ends itself where cuda_ipc meets several
    "host": "nogpu malloc cudaMallocHost cudaHostRegister",
}

# What UCX takes for other memory if it remembers what it saw being made: 1.13.1 sees neither mappings nor
# memory of pools, and crashed in every fourth job with these, traced or not; no version sees what is opened of another
# process. It does not remember then (UCX_MEMTYPE_CACHE).
UNSEEN = ("vmm", "mapped", "remap", "imported")
UNSEEN_BY = {"1.13.1": ("pool",)}

# The modes of gpu_pingpong, with the kind of memory that each word stands for.
MODES = ("pingpong", "window", "both", "mixed")
MODE_KINDS = {"plain": "cudaMalloc", "managed": "cudaMallocManaged"}

# program  what  devices  UCX  protocols  way[.scheme]  runtime  when
TABLE = """
pairs plain    peer    1.18.1 y ipc    static  start
pairs plain    peer    1.13.1 n ipc    dynamic start
pairs plain    peer    1.18.1 y ipc    dynamic late
pairs plain    peer    1.13.1 n ipc    static  late
pairs plain    peer    1.18.1 y staged static  start
pairs plain    peer    1.13.1 n staged static  start
hosts host     peer    stock  n host   dynamic start
halo  -        ring    1.18.1 y ipc    static  start
pairs pool     peer    1.18.1 y ipc    dynamic start
pairs vmm      peer    1.18.1 y staged static  start
imported -     peer    1.18.1 y staged static  start
hostile reuse  peer    1.18.1 y ipc    static  start
hostile threads peer   1.18.1 y ipc    dynamic start
pairs pool     peer    1.18.1 y ipc    static  late
pairs vmm      peer    1.18.1 y staged dynamic late
pairs plain    same    1.18.1 y ipc    static  start
pairs plain    setenv  1.18.1 y ipc    static  start
pairs plain    environ 1.18.1 y ipc    static  start
pairs plain    peer    1.18.1 y staged static  late
halo  -        ring    1.13.1 n ipc    static  start
imported -     peer    1.13.1 n staged dynamic start
imported -     peer    1.18.1 y ipc    static  start
hostile failing peer   1.18.1 y ipc    static  start
hostile fork   peer    1.18.1 y ipc    static  start
hostile remap  peer    1.18.1 y staged static  start
halo  -        ring    1.18.1 y ipc    static  late
pairs pool     peer    1.13.1 n staged static  start
pairs vmm      peer    1.13.1 n staged static  start
pairs plain    same    1.13.1 n ipc    static  start
hosts host     peer    stock  n host   static  late
pairs plain    peer    1.18.1 n ipc    static  start
pairs plain    setenv  1.18.1 y ipc    dynamic late
pairs plain    environ 1.18.1 y ipc    dynamic late
hostile reuse  peer    1.13.1 n ipc    static  start
hostile threads peer   1.13.1 n ipc    static  start
pairs plain    peer    1.13.1 n staged static  late
pairs pool     same    1.18.1 y staged static  start
pairs vmm      same    1.18.1 y staged static  start
halo  -        ring    1.18.1 y staged static  start
pairs plain    peer    1.13.1 y ipc    static  start
pairs pool     peer    1.13.1 n ipc    static  start
pairs mapped   peer    1.18.1 y ipc    static  start
pairs mapped   peer    1.13.1 n ipc    static  start
python -       peer    1.18.1 y ipc    own     start
python -       peer    1.18.1 y ipc    own     late
python -       peer    1.18.1 y staged own     start
pairs plain    peer    1.22.0 y ipc    static  start
pairs plain    peer    1.22.0 y ipc    static  late
pairs pool     peer    1.22.0 y ipc    static  start
pairs vmm      peer    1.22.0 y ipc    static  start
halo  -        ring    1.22.0 y ipc    static  start
imported -     peer    1.22.0 y ipc    static  start
python -       peer    1.22.0 y ipc    own     start
pairs plain    peer    1.20.1 y ipc    static  start
pairs pool     peer    1.20.1 y ipc    static  late
halo  -        ring    1.20.1 y ipc    static  late
pingpong plain   environ 1.13.1 n staged  static start
pingpong plain   environ 1.13.1 y staged  static start
pingpong managed environ 1.13.1 n staged  static start
pingpong managed environ 1.13.1 y staged  static start
pingpong managed environ 1.13.1 n ipc     static start
pingpong managed environ 1.13.1 y ipc     static start
both     plain   environ 1.13.1 n staged  static start
both     plain   environ 1.13.1 y staged  static start
window   plain   environ 1.13.1 n staged  static start
window   plain   environ 1.13.1 n ipc     static start
both     plain   environ 1.13.1 n ipc     static start
both     plain   environ 1.13.1 y ipc     static start
mixed    plain   environ 1.13.1 n staged  static start
mixed    plain   environ 1.13.1 y staged  static start
mixed    managed environ 1.13.1 n staged  static start
pingpong plain   environ 1.18.1 y staged  static start
pingpong managed environ 1.18.1 y staged  static start
both     plain   environ 1.18.1 y staged  static start
mixed    plain   environ 1.18.1 y staged  static start
both     plain   environ 1.18.1 y ipc     static start
mixed    managed environ 1.18.1 y ipc     static start
mixed    plain   environ 1.13.1 n shm     static start
mixed    plain   environ 1.13.1 y shm     static start
mixed    plain   environ 1.18.1 y shm     static start
mixed    plain   environ 1.13.1 n staged.get_ppln static start
mixed    plain   environ 1.13.1 n staged.put_ppln static start
mixed    plain   environ 1.13.1 y staged.get_ppln static start
mixed    plain   environ 1.13.1 y staged.put_ppln static start
mixed    plain   environ 1.13.1 y staged.get_zcopy static start
mixed    plain   environ 1.13.1 y staged.put_zcopy static start
mixed    plain   environ 1.13.1 y staged.rkey_ptr static start
mixed    plain   environ 1.13.1 n staged.am   static start
mixed    plain   environ 1.13.1 y staged.am   static start
mixed    plain   environ 1.18.1 y staged.put_zcopy static start
mixed    plain   environ 1.18.1 y staged.rkey_ptr static start
mixed    plain   environ 1.18.1 y staged.put_ppln static start
mixed    plain   environ 1.18.1 n staged  static start
pingpong plain   environ 1.13.1 n staged  static late
pingpong managed environ 1.13.1 n ipc     static late
both     plain   environ 1.13.1 n staged  static late
both     plain   environ 1.18.1 y staged  static late
"""


def unseen(case):
    """Whether that is what it sends."""
    return any(word in case.name.split("-") for word in UNSEEN + UNSEEN_BY.get(case.ucx, ()))


def program_of(word):
    return "gpu_pairs" if word == "hosts" else f"gpu_{'pingpong' if word in MODES else word}"


def arguments(program, what):
    if program in MODES:
        return [program, MODE_KINDS[what]]
    return KINDS[what].split() if program in ("pairs", "hosts") else [] if what == "-" else [what]


def cases():
    made = []
    for line in TABLE.split("\n"):
        if not line:
            continue
        program, what, devices, ucx, proto, way, runtime, when = line.split()
        parts = [program, what, devices, ucx, {"y": "v2", "n": "v1"}[proto], way, runtime, when]
        way, _, scheme = way.partition(".")
        made.append(Case("-".join(part for part in parts if part != "-"), program_of(program),
                         arguments(program, what), devices, ucx, proto, way, scheme, runtime,
                         when == "late"))
    return made
