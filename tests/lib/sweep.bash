# SPDX-License-Identifier: BSD-3-Clause
# For tests of whole sweeps on nodes made of namespaces. Needs live.bash.

# The traffic's environment, as a user's shell would have it: everything over the nodes' first network.
sweep_env()
{
	job_env_openmpi
	SWEEP_ENV=("${JOB_ENV[@]}" OMPI_MCA_oob_tcp_if_include=eth0 HYDRA_IFACE=eth0
		UCX_NET_DEVICES=eth0 UCX_TLS=tcp,sysv,self,cma)
}

# sweep_policy NODES [LINE...]: site.yaml of nodes that talk over TCP, and by one copy within; rules as they are
# without a policy.
sweep_policy()
{
	cat >"$WORK/site.yaml" <<-EOT
		spec: ucxbpf-policy-v1
		site: bed
		classes: { node: { nodes: "$1" } }
		expect:
		  - { loc: inter, tl: [tcp] }
		  - { loc: intra, tl: [posix, sysv, cma, self] }
	EOT
	[ $# = 1 ] || printf '%s\n' "${@:2}" >>"$WORK/site.yaml"
}

# sweep STATUS slurm|hosts OPTION...: a small one into $WORK/sweep, started on n0
sweep()
{
	local wanted=$1 launcher=(--launcher "$2") got=0
	shift 2

	[ "${launcher[1]}" = slurm ] || launcher+=(--rsh "$TOP/tests/rsh")
	rm -rf "$WORK/sweep"
	sweep_env
	timeout -k 5 "${SWEEP_LIMIT:-60}" "$TOP/tests/slurm" enter n0 env "${SWEEP_ENV[@]}" "$UCXBPF" \
		sweep run -P "$WORK/site.yaml" "${launcher[@]}" -o "$WORK/sweep" --variant sample:1 \
		--max-size 1M --max-count 5 "$@" </dev/null >"$WORK/out" 2>"$WORK/err" || got=$?
	[ "$got" = "$wanted" ] || {
		echo "status $got, not $wanted"
		cat "$WORK/out" "$WORK/err" "$WORK"/sweep/log/* "$WORK"/sweep/nodes/*/log
		return 1
	} >&2
}

# sweep_interrupted FILE OPTION...: a sweep by hosts, ended when that file is in its folder. A job of the
# background ignores SIGINT, so it is SIGTERM.
sweep_interrupted()
{
	local file=$1 sweep killer status=0
	shift

	sweep_env
	"$TOP/tests/slurm" enter n0 env "${SWEEP_ENV[@]}" "$UCXBPF" sweep run -P "$WORK/site.yaml" \
		-o "$WORK/sweep" --launcher hosts --rsh "$TOP/tests/rsh" "$@" \
		</dev/null >"$WORK/out" 2>"$WORK/err" 3>&- &
	sweep=$!
	for _ in $(seq 400); do
		[ -e "$WORK/sweep/$file" ] && break
		sleep 0.05
	done
	sleep 0.5
	kill -TERM "$sweep"
	(sleep 40; kill -KILL "$sweep") 3>&- &
	killer=$!
	wait "$sweep" || status=$?
	kill "$killer"
	[ "$status" = 143 ]
}

# "VERDICT RULE SUBJECT" of what is not in order
sweep_findings()
{
	jq -r '.findings[] | select(.verdict != "pass" and .verdict != "skip") |
		"\(.verdict) \(.rule) \(.subject)"' "$WORK/sweep/report.json"
}

# Neither tracers nor ranks nor agents: by the sweep's folder on their command lines
sweep_left()
{
	grep -al "$WORK/[s]weep" /proc/[0-9]*/cmdline 2>/dev/null
}
