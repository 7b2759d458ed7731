# SPDX-License-Identifier: BSD-3-Clause
"""Strict readers of the forms in which ucxbpf writes: each takes a path and yields what is wrong with it. No form may
break a line, steer a terminal, hold bytes that are no UTF-8, or make markup or a formula of a name."""
import csv
import functools
import html.parser
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

from closed_schema import close

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests/golden"))
STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HANDLER = re.compile(r"on[a-z]+")


def steering(text, but="\n"):
    """What of a text steers a terminal."""
    for match in STEERS.finditer(text):
        if match.group() not in but:
            yield f"{match.group()!r} in {text[max(0, match.start() - 30):match.end() + 30]!r}"
            return


def text(path):
    yield from steering(Path(path).read_bytes().decode("utf-8"))


def members(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"a member twice: {names}")
    return dict(pairs)


def constant(name):
    raise ValueError(f"{name} is no JSON")


def loads(line):
    return json.loads(line, object_pairs_hook=members, parse_constant=constant)


def json_file(path):
    content = Path(path).read_bytes().decode("utf-8")
    yield from steering(content)
    loads(content)


@functools.lru_cache(maxsize=None)
def validator(name):
    import jsonschema
    schema = json.loads(Path(name).read_text())
    return jsonschema.validators.validator_for(schema)(close(schema))


def by_schema(name):
    """A reader of JSON that holds to a schema of docs/, whose members are all that there are."""
    def read(path):
        yield from json_file(path)
        for error in validator(TOP / "docs" / name).iter_errors(json.loads(Path(path).read_text())):
            yield f"{name}: {error.json_path}: {error.message[:200]}"
    return read


def report(path):
    yield from json_file(path)
    breaches = subprocess.run(["jq", "-r", "-f", TOP / "tests/golden/schema.jq", path], capture_output=True, text=True)
    yield from (breaches.stdout + breaches.stderr).splitlines()[:3]


class Events:
    """A reader of exported events: each line by that part of the schema that is of its event."""

    def __init__(self, schema):
        import jsonschema
        self.kinds = {part["properties"]["event"]["const"]: jsonschema.Draft202012Validator(part)
                      for part in schema["oneOf"]}

    def __call__(self, path):
        for line in Path(path).read_bytes().decode("utf-8").split("\n")[:-1]:
            yield from steering(line, "")
            fact = loads(line)
            if fact["event"] not in self.kinds:
                yield f"no such event in the schema: {fact['event']}"
            else:
                yield from (f"{fact['event']}: {error.message[:200]}" for error in
                            self.kinds[fact["event"]].iter_errors(fact))


def ndjson(path):
    for line in Path(path).read_bytes().decode("utf-8").split("\n")[:-1]:
        yield from steering(line, "")
        loads(line)


def csv_folder(path):
    for table in sorted(Path(path).iterdir()):
        content = table.read_bytes().decode("utf-8")
        yield from steering(content)
        rows = list(csv.reader(content.split("\n")[:-1], strict=True))
        for row in rows:
            if len(row) != len(rows[0]):
                yield f"{table.name}: {len(row)} cells, {len(rows[0])} in the header"
            for cell in row:
                if cell[:1] in tuple("=+-@") and not re.fullmatch(r"-?\d+", cell):
                    yield f"{table.name}: a formula: {cell[:40]!r}"


def sqlite(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    checked = database.execute("PRAGMA integrity_check").fetchone()[0]
    if checked != "ok":
        yield f"integrity: {checked}"
    for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").fetchall():
        for row in database.execute(f"SELECT * FROM {table}"):
            for cell in row:
                if isinstance(cell, str):
                    yield from steering(cell, "")


def folded(path):
    for line in Path(path).read_bytes().decode("utf-8").split("\n")[:-1]:
        yield from steering(line, "")
        if not re.fullmatch(r"[^;]+(;[^;]+)* \d+", line):
            yield f"no path and number: {line[:60]!r}"


class Markup(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.elements, self.scripts, self.handlers, self.links = set(), 0, [], []

    def handle_starttag(self, tag, attributes):
        self.elements.add((tag, *sorted(name for name, _ in attributes)))
        self.scripts += tag == "script"
        self.handlers += [name for name, _ in attributes if HANDLER.fullmatch(name)]
        self.links += [value for name, value in attributes if name in ("href", "src") and value]


def markup(path):
    parser = Markup()
    parser.feed(Path(path).read_bytes().decode("utf-8"))
    parser.close()
    return parser


def page(path):
    parser = markup(path)
    yield from steering(Path(path).read_bytes().decode("utf-8"), "\n\t")
    if parser.handlers:
        yield f"attributes that run code: {parser.handlers}"
    for link in parser.links:
        if re.match(r"\s*(javascript|data:text|vbscript)", link, re.I):
            yield f"a link that runs code: {link[:60]!r}"


def junit(path):
    content = Path(path).read_bytes().decode("utf-8")
    yield from steering(content)
    xml.etree.ElementTree.fromstring(content)
    done = subprocess.run(["xmllint", "--noout", "--schema", TOP / "docs/check.xsd", path], capture_output=True, text=True)
    if done.returncode:
        yield done.stderr.splitlines()[0]


def promtool(path, *command):
    """As the Prometheus server reads it; nothing where its Debian package is not installed."""
    if not shutil.which("promtool"):
        return
    with open(path, encoding="utf-8") as metrics:
        done = subprocess.run(["promtool", *command], stdin=metrics, capture_output=True, text=True)
    if done.returncode:
        yield f"promtool: {(done.stderr or done.stdout).splitlines()[-1]}"


def labels(families):
    for family in families:
        for sample in family.samples:
            yield from (fault for value in sample.labels.values() for fault in steering(value, ""))


def openmetrics(path):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    content = Path(path).read_bytes().decode("utf-8")
    yield from steering(content)
    yield from labels(text_string_to_metric_families(content))
    # The server's own reader of this form is within a command that needs the time of each sample.
    with tempfile.TemporaryDirectory() as folder:
        dated = Path(folder, "dated")
        dated.write_text(re.sub(r"^([^#\n].*)$", r"\1 1", content, flags=re.M), encoding="utf-8")
        yield from promtool(dated, "tsdb", "create-blocks-from", "openmetrics", dated, folder)


def textfile(path):
    from prometheus_client.parser import text_string_to_metric_families
    content = Path(path).read_bytes().decode("utf-8")
    yield from steering(content)
    yield from labels(text_string_to_metric_families(content))
    yield from promtool(path, "check", "metrics")


def texts(message):
    """All texts in a message of protobuf."""
    for field, value in message.ListFields():
        for one in value if field.label == field.LABEL_REPEATED else [value]:
            if field.type == field.TYPE_MESSAGE:
                yield from texts(one)
            elif field.type == field.TYPE_STRING:
                yield one


def perfetto(path):
    import perfetto_trace
    trace = perfetto_trace.messages().Trace()
    trace.ParseFromString(Path(path).read_bytes())
    for word in texts(trace):
        yield from steering(word, "")
    perfetto_trace.Trace(path)


def otf2(path):
    done = subprocess.run(["otf2-print", "--show-all", Path(path) / "traces.otf2"], capture_output=True)
    if done.returncode:
        yield f"otf2-print: {done.stderr.decode(errors='replace').splitlines()[-1]}"
    yield from steering(done.stdout.decode("utf-8"), "\n\t")
