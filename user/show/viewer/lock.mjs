// SPDX-License-Identifier: BSD-3-Clause
// Takes out of package-lock.json what names hosts: nothing is fetched from these, npm asks its own registry.
import { readFileSync, writeFileSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
for (const entry of Object.values(lock.packages)) {
  delete entry.funding;
  delete entry.resolved;
}
writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n");
