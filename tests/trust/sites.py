# SPDX-License-Identifier: BSD-3-Clause
"""Evidence (docs/evidence.md) of many nodes, made of that of two real ones: n0 and n1 of tests/data/site, in order in
"sound"; in "nocma" n1 moves data within itself over TCP, which PATH-03 finds."""
import functools
import re
import subprocess

import bed

FAILS = {"sound": False, "nocma": True}


@functools.lru_cache(maxsize=None)
def recorded(kind):
    """The text of two nodes' evidence, and the host ids of n0 and n1."""
    command = [bed.UCXBPF, "sweep", "merge", "-o", "/dev/stdout", *sorted((bed.DATA / "site").glob(f"{kind}.*.ucxb"))]
    merged = subprocess.run(command, capture_output=True, check=True).stdout
    text = subprocess.run(["zstd", "-dc"], input=merged, capture_output=True, check=True).stdout.decode()
    return text, [re.search(rf"^capture\t{name}\t\d+\t(\S+)", text, re.M)[1] for name in ("n0", "n1")]


def node_name(number):
    return f"n{number:04d}"


def pair(kind, first, second, number):
    """Evidence of two nodes as text: its processes and captures are those of no other number."""
    text, ids = recorded(kind)
    for old, host, node in zip(("n0", "n1"), ids, (first, second)):
        text = re.sub(rf"{host}/(\d+)/", lambda match: f"{host}/{int(match[1]) + 100_000 * number}/", text)
        text = re.sub(rf"^(capture\t{old}\t)(\d+)", lambda match: match[1] + str(int(match[2]) + 10 ** 10 * number), text, flags=re.M)
        text = re.sub(rf"(?<=[\t/]){old}(?=[\t\n])", node_name(node), text)
        text = text.replace(host, f"{node:08x}-0000-4000-8000-000000000000")
    head, *lines = text.splitlines(keepends=True)
    return (head + "".join(sorted(lines))).encode()


def written(path, text):
    path.write_bytes(subprocess.run(["zstd", "-qc"], input=text, capture_output=True, check=True).stdout)
    return path


def site(folder, failing, nodes):
    """Files of evidence of that many nodes, of which those in failing do."""
    files = []
    for number, second in enumerate(range(nodes)):
        first = (second + 1) % nodes
        text = pair("nocma" if second in failing else "sound", first, second, number)
        files.append(written(folder / f"{number}.evidence", text))
    return files


def policy(nodes, act=""):
    return (f'spec: ucxbpf-policy-v1\nclasses: {{ c: {{ nodes: "n[{0:04d}-{nodes - 1:04d}]" }} }}\n'
            f"expect: [ {{ loc: inter, tl: [tcp] }} ]\n{act}\n")


def unfolded(names):
    """Numbers of the nodes in "n[0001-0003,0007]" or "n0001"."""
    numbers = []
    for word in re.sub(r"^n\[?|\]$", "", names).split(","):
        first, _, last = word.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
