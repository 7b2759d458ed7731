# SPDX-License-Identifier: BSD-3-Clause
"""JSON Schemas of documents, as tests read them."""


def close(schema):
    """Nothing that the schema does not name: a new key has to be documented."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" or "properties" in schema and "required" in schema:
            schema.setdefault("additionalProperties", False)
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)
    return schema
