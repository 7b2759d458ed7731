# SPDX-License-Identifier: BSD-3-Clause
# Breaches of the schema ucxbpf.report/1 (docs/report.md) in a report, one string each; none = valid.
# Only what is fixed is checked: more keys and fields are allowed.

def natural: type == "number" and . >= 0 and floor == .;
def name: type == "string" and . != "";
def or_null(f): . == null or f;
def reasons: type == "object" and all(.[]; natural);
def one_of($words): . as $word | $words | index([$word]) != null;

def breach($where; $field; f):
	if type != "object" then "\($where): not an object"
	elif has($field) | not then "\($where): no \($field)"
	elif .[$field] | f then empty
	else "\($where).\($field): \(.[$field] | tojson)" end;

def rows($table; f):
	if .[$table] | type != "array" then "\($table): not an array"
	else .[$table] | to_entries[] | {where: "\($table)[\(.key)]", row: .value} | f end;

def host:
	.where as $where | .row |
	breach($where; "id"; natural), breach($where; "name"; name);

def ucx($where):
	breach($where; ("path", "build_id", "version", "layout"); name);

def process:
	.where as $where | .row |
	breach($where; ("id", "pid"); natural),
	breach($where; ("comm", "exe"); name),
	breach($where; ("host", "rank", "size"); or_null(natural)),
	breach($where; "mpi"; or_null(name)),
	breach($where; "ucx_unknown"; type == "boolean"),
	(select(.mpi == "unknown" and .ucx != []) | "\($where): MPI is unknown, UCX is not"),
	breach($where; "seen_from"; one_of(["start", "attach"])),
	breach($where; "environment_cut"; or_null(natural)),
	(("exit_status", "exit_signal") as $how | select(has($how)) | breach($where; $how; natural)),
	(select(has("exit_status") and has("exit_signal")) | "\($where): two ends"),
	breach($where; "cpus"; or_null(type == "string" and test("^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$"))),
	(.environment | if . == null then empty
		elif type == "array" then .[] | (breach("\($where).environment"; "name"; name),
			breach("\($where).environment"; "value"; type == "string"))
		else "\($where).environment: not an array" end),
	(.ucx | if type == "array" then .[] | ucx("\($where).ucx") else "\($where).ucx: not an array" end);

def clock:
	.where as $where | .row |
	breach($where; ("host", "other", "there", "back"); natural),
	if .reason == null then
		breach($where; ("at_ns", "offset_uncertainty_ns", "drift_uncertainty_ppb"); natural),
		breach($where; ("offset_ns", "drift_ppb"); type == "number" and floor == .)
	else
		breach($where; ("at_ns", "offset_ns", "drift_ppb"); . == null), breach($where; "reason"; name)
	end;

def call:
	.where as $where | .row |
	breach($where; ("process", "count", "ops_unknown"); natural), breach($where; "function"; name),
	breach($where; ("ops", "bytes"); or_null(natural)),
	(select(.count > 0 and (.ops == null) != (.ops_unknown >= .count))
		| "\($where): \(.ops) operations, of \(.ops_unknown) of \(.count) calls unknown");

def layer:
	breach("layers"; "recorded"; one_of(["always", "partly", "never"])),
	breach("layers"; ("ns", "of_ns"); natural);

def op:
	.where as $where | .row |
	breach($where; ("process", "count", "bytes"); natural),
	breach($where; ("op", "protocol"); name),
	breach($where; "function"; or_null(name));

def transfer:
	.where as $where | .row |
	breach($where; ("process", "count", "bytes", "retries"); natural),
	breach($where; "peer"; or_null(natural)),
	breach($where; ("op", "transport", "device", "protocol", "src_mem", "dst_mem"); name),
	breach($where; ("ucp_op", "function"); or_null(name)),
	breach($where; "locality"; one_of(["unknown", "self", "node", "remote"])),
	breach($where; "kind"; one_of(["data", "control", "copy"])),
	breach($where; "data_path"; one_of(["unknown", "direct", "buffered", "staged", "emulated", "control"])),
	(select((.data_path == "control") != (.kind == "control") or (.data_path == "staged") != (.kind == "copy"))
		| "\($where): data path \(.data_path) of kind \(.kind)"),
	breach($where; "initiator"; one_of(["unknown", "sender", "receiver", "origin", "target"])),
	(select((.initiator == "target" and .data_path != "emulated" and .kind == "data") or (.ucp_op == null and .initiator != "unknown"))
		| "\($where): started by the \(.initiator) of \(.ucp_op)");

def message:
	.where as $where | .row |
	breach($where; ("src", "dst", "count", "bytes"); natural),
	breach($where; "function"; or_null(name));

# Only there where all captures have sums alone.
def error:
	.where as $where | .row |
	breach($where; "process"; or_null(natural)), breach($where; "count"; natural and . > 0),
	breach($where; "what"; one_of(["endpoint", "operation", "transfer"])),
	breach($where; "status"; name),
	breach($where; ("op", "function", "transport", "device"); or_null(name));

def open:
	.where as $where | .row |
	breach($where; ("process", "since_ns", "age_ns"); natural),
	breach($where; "function"; name),
	breach($where; ("rank", "peer", "peer_rank", "tag"); or_null(natural)),
	breach($where; ("op", "call_site"); or_null(name)),
	breach($where; ("context", "sequence"); or_null(natural)),
	breach($where; "sequence_by"; or_null(one_of(["calls", "tags"]))),
	breach($where; "sequence_reason"; or_null(name)),
	breach($where; "step"; or_null(one_of(["queued", "announced", "unreceived", "unacknowledged", "matched", "data", "posted"]))),
	breach($where; ("bytes", "moved_bytes"); or_null(natural)),
	(select((.step == null) == (.step_reason == null) or (.op == null and .step != null)) | "\($where): a step of nothing, or with a reason"),
	(select(.moved_bytes != null and (.step != "data" or (.bytes != null and .moved_bytes >= .bytes)))
		| "\($where): \(.moved_bytes) of \(.bytes) bytes moved at the step \(.step)"),
	(select((.sequence == null) != (.sequence_by == null) or (.sequence != null and .sequence_reason != null))
		| "\($where): a number of nothing, or with a reason"),
	breach($where; ("peer_certain", "certain"); type == "boolean");

def durations:
	.where as $where | .row |
	breach($where; "exact"; natural),
	breach($where; ("exact_median_ns", "exact_p99_ns"); or_null(natural)),
	(select((.exact == 0) != (.exact_median_ns == null)) | "\($where): a median of nothing, or none"),
	(select(.exact_median_ns != null and .exact_median_ns > .exact_p99_ns) | "\($where): quantiles are not in order");

def process_time:
	.where as $where | .row |
	breach($where; "process"; natural),
	breach($where; "wait_ns"; or_null(natural)),
	breach($where; "wait_bound"; type == "boolean"),
	breach($where; ("rank", "span_ns", "mpi_ns", "mpi_most_ns"); or_null(natural)),
	breach($where; "precision"; one_of(["exact", "lower_bound"])),
	(select(.mpi_most_ns != null and .mpi_ns != null and .mpi_ns > .mpi_most_ns)
		| "\($where): more time in MPI than there can be");

def wait:
	.where as $where | .row |
	breach($where; "kind"; one_of(["late_sender", "late_receiver", "late_progress", "wait_at_barrier",
		"wait_at_nxn", "late_broadcast", "early_reduce", "out_of_resources"])),
	breach($where; ("process", "count", "sum_ns", "max_ns", "fresh_ns", "uncertainty_ns"); natural),
	breach($where; ("computing_ns", "communicating_ns", "waiting_ns"); natural),
	breach($where; ("rank", "culprit", "culprit_rank", "root", "root_rank"); or_null(natural)),
	breach($where; "function"; name),
	breach($where; "precision"; one_of(["exact", "clocks", "mixed"])),
	breach($where; "root_did"; or_null(one_of(["computing", "communicating"]))),
	(select(.max_ns > .sum_ns or .fresh_ns > .sum_ns) | "\($where): a part is above the sum"),
	(select(.computing_ns + .communicating_ns + .waiting_ns > .sum_ns)
		| "\($where): the culprit did more than there is time");

def collective:
	.where as $where | .row |
	breach($where; "function"; name),
	breach($where; "communicator"; or_null(one_of(["MPI_COMM_WORLD", "another"])
		or (type == "string" and startswith("UCC team ")))),
	breach($where; ("ranks", "rounds", "context", "first_sequence", "last_sequence"); or_null(natural)),
	breach($where; ("count", "numbered", "messages", "most_sent", "bytes", "least_bytes", "most_bytes"); natural),
	(select(.numbered > .count or (.numbered == 0) != (.first_sequence == null) or (.numbered == 0) != (.last_sequence == null)
		or .first_sequence > .last_sequence) | "\($where): numbers of other operations"),
	breach($where; ("rounds_bound", "bytes_bound"); type == "boolean"),
	(select(.rounds_bound and .rounds == null) | "\($where): a bound of no rounds"),
	breach($where; ("algorithm", "reason"); or_null(name)),
	(select((.algorithm == null or (.function | startswith("UCC "))) != (.rounds == null)) | "\($where): rounds of no algorithm"),
	(select((.algorithm == null) == (.reason == null)) | "\($where): an algorithm with a reason, or neither"),
	(select(.least_bytes > .most_bytes or .bytes < .most_bytes) | "\($where): bytes are not in order");

def tag:
	.where as $where | .row |
	breach($where; "library"; name),
	breach($where; ("team", "kind"); or_null(name)),
	breach($where; ("senders", "operations", "messages", "bytes"); natural),
	(select(.senders > .messages or .operations > .messages) | "\($where): more than there are messages");

def tag_sender:
	.where as $where | .row |
	breach($where; "library"; name),
	breach($where; "team"; or_null(name)),
	breach($where; ("sender", "process", "messages"); natural);

# Each ns of a process that waited is in one row of each table.
def waited:
	([.time[]?.wait_ns] | add // 0) as $time
	| ([.waits[]?.fresh_ns] | add // 0) as $waits
	| ([.wait_roots[]?.fresh_ns] | add // 0) as $roots
	| select($waits != $roots or (.filter == null and $waits != $time))
	| "waits: \($waits) ns in waits, \($roots) in wait_roots, \($time) in time";

# Not there in reports on captures that do not say where calls came from.
def call_site:
	.where as $where | .row |
	breach($where; ("process", "count"); natural),
	breach($where; ("function", "label"); name),
	breach($where; ("module", "build_id", "symbol", "file", "address", "reason"); or_null(name)),
	(select(has("demangled")) | breach($where; "demangled"; name)),
	(select(has("demangled") and (.symbol | startswith("_Z") | not)) | "\($where): demangled, but not of C++"),
	breach($where; ("line", "symbol_offset"); or_null(natural)),
	(select((.module == null) != (.reason != null)) | "\($where): neither module nor reason, or both");

# Not there in reports on captures that do not say who called UCP.
def caller:
	.where as $where | .row |
	breach($where; ("process", "count", "bytes"); natural),
	breach($where; ("op", "label"); or_null(name)),
	breach($where; ("module", "build_id", "symbol", "file", "address", "reason", "library", "role"); or_null(name)),
	(select((.module == null) != (.reason != null)) | "\($where): neither module nor reason, or both"),
	(select((.module == null) != (.role == null)) | "\($where): neither module nor role, or a role of no module"),
	(select(has("library") | not) | "\($where): no library");

def self_cost:
	breach("self"; ("captures", "records", "bytes", "cpu_ns"); natural),
	breach("self"; "memory_peak"; or_null(natural)),
	(select(has("consumer")) | .consumer |
		breach("self.consumer"; ("captures", "threads", "rings", "ring_bytes", "grown", "records", "cpu_ns"); natural)),
	breach("self"; "levels"; type == "array" and all(.[]; . as $l | ["mpi", "ucp", "uct"] | index([$l]) != null)),
	(select(has("kernel_unknown")) | breach("self"; "kernel_unknown"; name)),
	(select(.kernel != null) | .kernel
		| breach("self.kernel"; ("captures", "time_ns", "hits", "sampled_hits"); natural),
		(select(has("spread_ns")) | breach("self.kernel"; "spread_ns"; natural)),
		(select(.sampled_hits > .hits) | "self.kernel: more hits sampled than there were"));

# Only there where GPU libraries were seen to make memory.
def memory:
	.where as $where | .row |
	breach($where; ("process", "allocations", "bytes", "unsized", "live_peak"); natural),
	breach($where; "kind"; one_of(["unknown", "pinned", "managed", "gpu"])),
	breach($where; "sort"; one_of(["plain", "pool", "registered", "mapped", "imported"])),
	breach($where; ("device", "exporter"); or_null(natural)),
	breach($where; "reason"; or_null(name)),
	breach($where; "function"; name),
	(select(.exporter != null and .sort != "imported") | "\($where): exported, but not imported"),
	(select((.kind == "gpu" and .device != null) != (.reason == null and (.kind == "gpu" or .kind == "unknown")))
		| "\($where): neither device nor reason, or both"),
	(select(.live_peak > .bytes) | "\($where): more at once than in all"),
	(select(.unsized > .allocations) | "\($where): more unsized than there are");

# With memory[].
def device:
	.where as $where | .row |
	breach($where; "host"; natural),
	breach($where; "name"; type == "string" and test("^gpu[0-9]+$")),
	breach($where; "pci"; type == "string" and test("^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}[.][0-7]$")),
	breach($where; ("uuid", "model"); or_null(name)),
	breach($where; "numa_node"; or_null(natural)),
	breach($where; "processes"; type == "array" and all(.[]; (.process | natural) and (.ordinal | natural)));

# With memory[], operations say whose memory their buffer is of.
def op_memory:
	.where as $where | .row |
	breach($where; "memory"; type == "string" and test("^(unknown|host|pinned|managed|gpu[0-9]*)$")),
	breach($where; ("memory_reason", "memory_known_by"); or_null(name)),
	(select((.memory == "unknown") != (.memory_known_by == null)) | "\($where): neither memory nor how it is known, or both"),
	(select((.memory == "unknown" or .memory == "gpu") != (.memory_reason != null))
		| "\($where): neither memory nor reason, or both");

# ... and messages say which way they went: one hop less than there is memory.
def message_way:
	.where as $where | .row |
	breach($where; ("src_mem", "dst_mem"); type == "string" and test("^(unknown|host|pinned|managed|gpu[0-9]*)$")),
	breach($where; ("src_reason", "dst_reason", "chain_reason"); or_null(name)),
	breach($where; ("copies", "copy_bytes"); natural),
	breach($where; ("chain", "via"); . == null or (type == "array" and all(.[]; name))),
	(select((.chain == null) != (.chain_reason != null)) | "\($where): neither chain nor reason, or both"),
	(select((.chain == null) != (.via == null)) | "\($where): only one of chain and via"),
	(select(.chain != null and (.chain | length) != (.via | length) + 1)
		| "\($where): chain and via do not fit");

# Where some process has a GPU library, what is not known of a transfer's memory has a reason.
def transfer_memory:
	.where as $where | .row |
	(("src", "dst") as $side
		| breach($where; $side + "_mem"; test("^(unknown|host|pinned|managed|gpu[0-9]*)$")),
		  breach($where; $side + "_reason"; or_null(name)),
		  (select((.[$side + "_mem"] == "unknown" or .[$side + "_mem"] == "gpu")
				!= (.[$side + "_reason"] != null))
			| "\($where): neither \($side)_mem nor its reason, or both"));

# Only there where captures have stacks.
def stack:
	.where as $where | .row |
	breach($where; ("process", "count"); natural),
	breach($where; "function"; name),
	breach($where; "end"; or_null(name)),
	(.frames | if type == "array" then to_entries[] | {where: "\($where).frames[\(.key)]", row: .value}
		| .where as $frame | .row | breach($frame; "label"; name)
	else "\($where).frames: not an array" end);

# Only there where data went between hosts.
def nic:
	.where as $where | .row |
	breach($where; ("host", "count", "bytes", "bytes_unknown", "wire_bytes"); natural),
	breach($where; "device"; name),
	breach($where; "direction"; one_of(["in", "out"]));

def route:
	.where as $where | .row |
	breach($where; ("src_host", "dst_host", "count", "bytes", "bytes_unknown", "wire_bytes"); natural),
	breach($where; ("src_nic", "dst_nic", "src_mem", "dst_mem"); name);

# Each byte goes out once, comes in once and has one way.
def remote: [.transfers[]? | select(.kind == "data" and .locality == "remote") | .bytes] | add // 0;
def networks:
	remote as $bytes
	| ("in", "out") as $direction
	| (select(([.nics[]? | select(.direction == $direction) | .bytes] | add // 0) != $bytes)
		| "nics: those \($direction) are not the data between hosts"),
	(select(([.routes[]?.bytes] | add // 0) != $bytes) | "routes: not the data between hosts");

# Every process that a row names is in the list.
def dangling:
	[.processes[]?.id] as $known
	| ((.calls, .ops, .transfers, .call_sites, .memory, .open, .time, .waits, .wait_roots)[]?.process, (.waits[]? | .culprit, .root), .transfers[]?.peer, .messages[]?.src, .messages[]?.dst, .memory[]?.exporter)
	| select(. != null)
	| . as $id
	| select($known | index([$id]) == null)
	| "process \($id) is not in processes";

# {"source destination": bytes}
def by_ends: group_by(.ends) | map({ key: .[0].ends, value: (map(.bytes) | add) })
	| map(select(.value > 0)) | from_entries;

# A get brings the data here, but for one into memory of the peer that is mapped here.
def ends_of: if (.op | startswith("get")) and (.peer == .process or (.transport | IN("cuda_copy", "gdr_copy") | not))
	then "\(.peer) \(.process)" else "\(.process) \(.peer)" end;

# Where nothing is missing, under way at the end, or of unknown size, what went from one process to another is what its
# messages have: but for what UCX 1.18 copies to itself ("rndv", src/uct/sm/self/self.c), which has no transfer.
def balance:
	select(.filter == null and .counted == null and .detail == null and .matching != null)
	| select([.open[]? | select(.op != null)] == [])
	| select([.loss.dropped[]?, .matching.unmatched_sends[]?, .matching.unmatched_receives[]?,
		.matching.ambiguous, .attribution.unexplained, .messages[]?.bytes_unknown] | add == 0)
	| ([.transfers[]? | select(.kind == "data" and (.ucp_op // "" | test("^(tag|am|stream)_")))
		| { ends: ends_of, bytes }] | by_ends) as $moved
	| ([(.messages[]? | { ends: "\(.src) \(.dst)", bytes }),
		(.ops[]? | select(.protocol == "rndv" and (.op | IN("tag_send", "tag_send_sync")))
			| { ends: "\(.process) \(.process)", bytes: -.bytes })] | by_ends) as $sent
	| select($moved != $sent)
	| "transfers between two processes are not their messages' bytes: \($moved), \($sent)";

# Sums that must hold whatever was traced, and whatever was lost.
def sums:
	(.loss | objects | select(.produced != .stored + ([.dropped[]?] | add // 0))
		| "loss: produced is not stored and dropped"),
	(.attribution | objects | select(.data_bytes != .to_op + .unexplained)
		| "attribution: data_bytes is not to_op and unexplained"),
	(.attribution | objects | select(.to_call > .to_op) | "attribution: to_call is above to_op"),
	(.attribution | objects | select((.without_way // 0) != ([.without_way_reasons[]?] | add // 0))
		| "attribution: without_way is not the sum of its reasons"),
	(select(.filter == null) | select((.attribution.way_bytes // 0) > ([.messages[]?.bytes] | add // 0))
		| "attribution: way_bytes is above the messages' bytes"),
	(select(.filter == null and any(.messages[]?; has("chain_reason")))
		| select((.attribution.without_way // 0)
			!= ([.messages[]? | select(.chain_reason != null) | .bytes] | add // 0))
		| "attribution: without_way is not the sum of the messages without a way"),
	(select(.filter == null)
		| select(.attribution.data_bytes
			!= ([.transfers[]? | select(.kind == "data") | .bytes] | add // 0))
		| "attribution: data_bytes is not the sum of the data transfers"),
	(select(.filter == null)
		| select((.attribution.copy_bytes // 0)
			!= ([.transfers[]? | select(.kind == "copy") | .bytes] | add // 0))
		| "attribution: copy_bytes is not the sum of the copies"),
	(select(.filter == null and .matching != null)
		| select(.matching.matched != ([.messages[]?.count] | add // 0))
		| "matching: matched is not the sum of the messages"),
	(select(has("call_sites"))
		| select(([.calls[].count] | add // 0) < ([.call_sites[].count] | add // 0))
		| "call_sites: more than calls"),
	(.collective_joins
		| select(((.proved | natural) and (.contradicted | natural) and (.unproved | reasons)) | not)
		| "collective_joins: not as documented"),
	(.matching | objects
		| select(.sends != .matched + .ambiguous + ([.unmatched_sends[]?] | add // 0))
		| "matching: sends are not matched, ambiguous and unmatched");

[
	breach("report"; "schema"; . == "ucxbpf.report/1"),
	rows("hosts"; host),
	rows("processes"; process),
	(select(has("clocks")) | rows("clocks"; clock)),
	rows("calls"; call),
	rows("ops"; op),
	rows("transfers"; transfer),
	(select(any(.transfers[]?; has("src_reason"))) | rows("transfers"; transfer_memory)),
	rows("messages"; message),
	(select(has("errors")) | rows("errors"; error)),
	(select(any(.messages[]?; has("chain"))) | rows("messages"; message_way)),
	rows("path_times"; durations), rows("functions"; durations),
	rows("open"; open),
	rows("time"; process_time),
	rows("waits"; wait),
	waited,
	rows("collectives"; collective),
	(select(has("tags")) | rows("tags"; tag), rows("tag_senders"; tag_sender)),
	(select(has("call_sites")) | rows("call_sites"; call_site)),
	(select(has("callers")) | rows("callers"; caller),
		select(([.ops[] | select(.function == null) | .count] | add // 0) != ([.callers[].count] | add))
		| "callers: not as many operations as outside MPI"),
	(select(has("stacks")) | rows("stacks"; stack)),
	(select(has("memory")) | rows("memory"; memory), rows("devices"; device), rows("ops"; op_memory)),
	(select(has("nics")) | rows("nics"; nic), rows("routes"; route)),
	networks,
	(.loss | breach("loss"; ("produced", "stored"); natural), breach("loss"; "dropped"; reasons)),
	(select(.counted == null or .counted.of != .counted.captures) | .matching
		| breach("matching"; ("sends", "receives", "matched", "ambiguous"); natural),
		  breach("matching"; ("unmatched_sends", "unmatched_receives"); reasons)),
	(.attribution
		| breach("attribution"; ("data_bytes", "to_op", "to_call", "unexplained"); natural)),
	(select(has("self")) | .self | self_cost),
	dangling,
	balance,
	sums
] | unique[]
