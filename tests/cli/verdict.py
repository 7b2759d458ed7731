#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""verdict.py SCHEMA FOLDER: a verdict in every form, r.json, r.xml, r.om and r.prom in FOLDER, each read by
its own format's reader, say the same numbers. Prints what is wrong; exits with 77 where a reader is missing."""
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
sys.dont_write_bytecode = True
from closed_schema import close  # noqa: E402

try:
    import jsonschema
    import junitparser
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
    from prometheus_client.parser import text_string_to_metric_families as textfile
except ImportError as error:
    print(f"no {error.name}")
    sys.exit(77)


def junit(path):
    """Verdicts of all cases, and each suite's own sums."""
    seen, cases = Counter(), {}
    names = {junitparser.Failure: "fail", junitparser.Error: "unknown", junitparser.Skipped: "skip or waived"}
    for suite in junitparser.JUnitXml.fromfile(str(path)):
        own = Counter()
        for case in suite:
            verdict = names[type(case.result[0])] if case.result else "pass"
            own[verdict] += 1
            cases.setdefault((case.classname, case.name), []).append(verdict)
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (
            sum(own.values()), own["fail"], own["unknown"], own["skip or waived"]), suite.name
        seen += own
    return seen, cases


def samples(families):
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for f in families for s in f.samples}


def main(schema, folder):
    verdict = json.loads((folder / "r.json").read_text())
    schema = json.loads(schema.read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(close(schema)).validate(verdict)
    summary, findings = verdict["summary"], verdict["findings"]
    for name in ("pass", "fail", "unknown", "skip", "waived"):
        assert summary[name] == sum(f["verdict"] == name for f in findings), name
    assert summary["rules_judged"] == len({f["rule"] for f in findings if f["verdict"] != "skip"})

    seen, cases = junit(folder / "r.xml")
    assert seen["fail"] == summary["fail"] and seen["unknown"] == summary["unknown"]
    assert seen["skip or waived"] == summary["skip"] + summary["waived"]
    for finding in findings:
        if finding["verdict"] == "fail":
            assert "fail" in cases[finding["rule"], finding["subject"]]

    scraped = samples(openmetrics((folder / "r.om").read_text()))
    collected = samples(textfile((folder / "r.prom").read_text()))
    assert scraped == collected, set(scraped.items()) ^ set(collected.items())
    for name in ("pass", "fail", "unknown", "skip", "waived"):
        assert scraped["ucxbpf_check_findings", (("verdict", name),)] == summary[name]
    critical = {f["rule"] for f in findings if f["verdict"] == "fail" and f["severity"] == "critical"}
    assert critical == {dict(labels)["rule"] for (name, labels), value in scraped.items()
                        if name == "ucxbpf_rule_state" and value == 2}
    rails = Counter()
    for nic in verdict["nics"]:
        rails[nic["device"]] += int(nic["sent"]) + int(nic["fetched"])
    assert rails == {dict(labels)["nic"]: value for (name, labels), value in scraped.items()
                     if name == "ucxbpf_rail_bytes_total"}
    # a label per pair would be a series per pair
    assert not any(">" in value for _, labels in scraped for _, value in labels)


main(Path(sys.argv[1]), Path(sys.argv[2]))
