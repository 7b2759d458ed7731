#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_html.py PAGE REPORT: a page (docs/viewer-data.md) is one file that fetches nothing, lets only its own
script and style in, and has the report in it, byte by byte. Prints every breach."""
import base64
import hashlib
import html.parser
import json
import sys
import zlib

SIZES = {"u8": 1, "u16": 2, "u32": 4, "f64": 8}
# That a browser follows by itself.
FETCHING = {"src", "href", "srcset", "data", "action", "formaction", "poster", "background", "manifest", "ping"}
BUDGET = 24 << 20


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.data, self.policy = [], {}, None
        self.inside, self.run, self.style, self.bad = None, [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        for name in attributes:
            if name in FETCHING or name.startswith("on") or name == "style":
                self.bad.append(f"<{tag} {name}>")
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        self.inside = (tag, attributes)
        if tag == "script" and attributes.get("type") is None:
            self.run.append("")
        elif tag == "script":
            self.data[attributes["id"]] = (attributes["type"], [])
        elif tag == "style":
            self.style.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_comment(self, data):
        self.bad.append("a comment")

    def handle_data(self, data):
        tag, attributes = self.inside or (None, {})
        if tag == "script" and attributes.get("type") is None:
            self.run[-1] += data
        elif tag == "script":
            self.data[attributes["id"]][1].append(data)
        elif tag == "style":
            self.style[-1] += data


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check_markup(page):
    yield from page.bad
    if len(page.run) != 1 or len(page.style) != 1:
        yield f"{len(page.run)} scripts, {len(page.style)} styles"
        return
    want = (
        f"default-src 'none'; script-src {digest(page.run[0])}; style-src {digest(page.style[0])}; "
        "base-uri 'none'; form-action 'none'"
    )
    if page.policy != want:
        yield f"policy is {page.policy}, not {want}"
    extra = set(page.tags) - {
        "html", "head", "meta", "title", "style", "body", "div", "template", "noscript", "script",
    }
    if extra:
        yield f"elements {extra}"


def check_section(section, packed, content):
    name = section["name"]
    if len(packed) != section["packed"] or len(content) != section["bytes"]:
        yield f"{name}: {len(packed)} and {len(content)} bytes, not as the directory says"
    for column in section.get("columns", []):
        end = column["offset"] + column["length"] * SIZES[column["type"]]
        if column["offset"] % 8 or end > len(content):
            yield f"{name}.{column['name']}: not in the section"
    if "columns" not in section:
        json.loads(content)


def main():
    page = Page()
    with open(sys.argv[1], encoding="utf-8") as file:
        page.feed(file.read())
    page.close()
    bad = list(check_markup(page))
    directory = json.loads("".join(page.data.pop("directory")[1]))
    contents = {}
    for section in directory["sections"]:
        packed = base64.b64decode("".join(page.data.pop("data-" + section["name"])[1]), validate=True)
        contents[section["name"]] = zlib.decompress(packed)
        bad += check_section(section, packed, contents[section["name"]])
    with open(sys.argv[2], "rb") as file:
        if contents["report"] != file.read():
            bad.append("the report is another one")
    if page.data:
        bad.append(f"elements {set(page.data)} that the directory does not know")
    if directory["budget"]["used"] > BUDGET or directory["schema"] != "ucxbpf.viewer/2":
        bad.append(str(directory["budget"]))
    for line in bad:
        print(line)
    return bool(bad)


sys.exit(main())
