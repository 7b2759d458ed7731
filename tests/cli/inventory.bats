#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ucxbpf inventory: this machine, and copies of UCX whose modules do not load.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	cd "$BATS_TEST_TMPDIR"
}

# inventory COMMAND...: runs it, as JSON in out
inventory() {
	"$@" "$UCXBPF" inventory -f json >out
}

# A copy of the machine's UCX, with all of its modules, in ./ucx.
copy_of_ucx() {
	local real

	real=$(readlink -f "$(ldconfig -p | sed -n 's/.*libucp.so.0 .* => //p' | head -n 1)")
	[ -n "$real" ] || skip "no UCX here"
	mkdir -p ucx/ucx
	cp -L "${real%/*}"/libuc{p,s,t,m}.so.0 ucx/
	cp -L "${real%/*}"/ucx/lib*.so.0 ucx/ucx/
}

# What is said of a module of the first copy: its state of health
module() {
	jq -r --arg name "$1" '.ucx[0].modules[] | select(.path | endswith("/" + $name)) | .missing // "loads"' out
}

@test "this machine, as the system's own commands tell it" {
	inventory env UCX_TLS=tcp
	[ "$(jq -r .host out)" = "$(hostname)" ]
	[ "$(jq -r .boot_id out)" = "$(cat /proc/sys/kernel/random/boot_id)" ]
	[ "$(jq -r .kernel_boot_id out)" = "$(cat /proc/sys/kernel/random/boot_id)" ]
	[ "$(jq .cpus.count out)" = "$(getconf _NPROCESSORS_ONLN)" ]
	[ "$(jq -r '.limits.memlock' out)" = "$(($(ulimit -l) * 1024))" ]
	[ "$(jq -r '[.nics[] | select(.kind == "net") | .name] | sort | join(" ")' out)" = \
		"$(ip -json link | jq -r '[.[].ifname] | sort | join(" ")')" ]
	[ "$(jq -r '.nics[] | select(.name == "lo") | .mtu' out)" = "$(ip -json link show lo | jq '.[].mtu')" ]
	[ "$(jq -r '.variables[] | select(.name == "UCX_TLS") | .value' out)" = tcp ]
	jq -e '.took_ns < 5000000000' out
}

@test "any user; a terminal's form; a file is replaced as a whole" {
	"$UCXBPF" inventory -f text | grep -q '^nic  lo '
	"$UCXBPF" inventory -o a.json
	"$UCXBPF" check a.json >out
	grep -q '^verdict PASS ' out
	! "$UCXBPF" inventory -o /dev/full/x 2>err || false
	grep -q '^ucxbpf: .*/dev/full/x: ' err
	! "$UCXBPF" inventory -f xml 2>err || false
	[ "$(id -u)" != 0 ] || (cd / && setpriv --reuid 65534 --regid 65534 --clear-groups "$UCXBPF" inventory) | jq -e .host
}

@test "a copy of UCX found by LD_LIBRARY_PATH, in order" {
	copy_of_ucx
	inventory env LD_LIBRARY_PATH=$PWD/ucx
	[ "$(jq -r '.ucx[0].found_by' out)" = LD_LIBRARY_PATH ]
	[ "$(jq -r '.ucx[0].version' out)" = "$(ucx_info -v | sed -n 's/^# .*ersion:* \([0-9.]*\).*/\1/p' | head -n 1)" ]
	[ "$(jq '[.ucx[0].modules[] | select(.missing)] | length' out)" = 0 ]
	[ "$(module libuct_ib.so.0)" = loads ]
}

@test "a module that UCX was built with and that is not there" {
	copy_of_ucx
	rm ucx/ucx/libuct_cma.so.0
	inventory env LD_LIBRARY_PATH=$PWD/ucx
	[ "$(module libuct_cma.so.0)" = "there is no such file" ]
	LD_LIBRARY_PATH=$PWD/ucx "$UCXBPF" inventory -f text | grep -q 'libuct_cma.so.0 does not load: there is no such file'
	[ "$(jq '[.ucx[0].modules[] | select(.missing)] | length' out)" = 1 ]
}

# Their libraries are made so that the loader itself refuses them, which it is asked as well.
@test "modules that need a library that is not there, or a version that it has not" {
	copy_of_ucx
	echo 'int f(void) { return 1; }' >f.c
	echo 'V2 { global: f; };' >v2
	echo 'V1 { global: f; };' >v1
	gcc -shared -fPIC f.c -o ucx/libneeded.so.1 -Wl,-soname,libneeded.so.1 -Wl,--version-script,v2
	echo 'int f(void); int g(void) { return f(); }' >g.c
	gcc -shared -fPIC g.c -o ucx/ucx/libuct_mine.so.0 ucx/libneeded.so.1
	gcc -shared -fPIC g.c -o ucx/libbetween.so.1 -Wl,-soname,libbetween.so.1 ucx/libneeded.so.1
	gcc -shared -fPIC -Wl,--no-as-needed g.c -o ucx/ucx/libuct_far.so.0 ucx/libbetween.so.1 -Wl,-rpath-link,ucx
	inventory env LD_LIBRARY_PATH=$PWD/ucx
	[ "$(module libuct_mine.so.0)" = loads ]
	[ "$(module libuct_far.so.0)" = loads ]
	gcc -shared -fPIC f.c -o ucx/libneeded.so.1 -Wl,-soname,libneeded.so.1 -Wl,--version-script,v1
	inventory env LD_LIBRARY_PATH=$PWD/ucx
	[ "$(module libuct_mine.so.0)" = "$PWD/ucx/libneeded.so.1 has no version V2" ]
	LD_LIBRARY_PATH=$PWD/ucx ldd ucx/ucx/libuct_mine.so.0 2>&1 | grep -q 'V2. not found'
	rm ucx/libneeded.so.1
	inventory env LD_LIBRARY_PATH=$PWD/ucx
	[ "$(module libuct_mine.so.0)" = "libneeded.so.1 is not found" ]
	[ "$(module libuct_far.so.0)" = "libbetween.so.1: libneeded.so.1 is not found" ]
	LD_LIBRARY_PATH=$PWD/ucx ldd ucx/ucx/libuct_mine.so.0 | grep -q 'libneeded.so.1 => not found'
}

@test "a module that is no library" {
	copy_of_ucx
	echo text >ucx/ucx/libuct_cma.so.0
	inventory env LD_LIBRARY_PATH=$PWD/ucx
	[ "$(module libuct_cma.so.0)" = "not a library that this machine can read" ]
}

@test "broken and foreign files are told from captures" {
	"$UCXBPF" inventory -o a.json
	sed 's/"host"/"hosts"/' a.json >b.json
	! "$UCXBPF" check b.json 2>err || false
	grep -q 'b.json: hosts: is no member that this version knows' err
	head -c 300 a.json >c.json
	! "$UCXBPF" check c.json 2>err || false
	grep -q 'c.json: line ' err
	echo '{"schema": "ucxbpf.inventory/7"}' >d.json
	! "$UCXBPF" check d.json 2>err || false
	grep -q 'd.json: schema: is not ucxbpf.inventory/1' err
	! "$UCXBPF" check -o a.json a.json 2>err || false
	grep -q 'is evidence, not overwritten' err
}

@test "a node made of namespaces: its own interfaces, though /sys shows the host's" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -n true || skip "no network namespaces here"
	unshare -n sh -c "ip link add rail7 type veth peer name rail8 && '$UCXBPF' inventory -f json" >out
	[ "$(jq -r '[.nics[].name] | join(" ")' out)" = "lo rail7 rail8" ]
	[ "$(jq -r '.nics[1] | "\(.mtu) \(.state)"' out)" = "1500 down" ]
	# without the right to mount one: not those of another namespace, and said why
	unshare -n setpriv --reuid 65534 --clear-groups "$UCXBPF" inventory -f json >out
	jq -e '.nics == [] and ([.unknown[] | select(.what == "nics") | .why] |
		. == ["/sys shows another network namespace; as root it could be read"])' out
}
