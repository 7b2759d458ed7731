# SPDX-License-Identifier: BSD-3-Clause
# Run in a fresh root by deb.bats, with the packages, captures and a job in /given: installs, uses and removes both packages.
# Ends with 0, or says what was not as it should be.
set -eu
export DEBIAN_FRONTEND=noninteractive

fail() { echo "$*" && exit 1; }

# all there is but what dpkg and the loader write down for themselves
everything()
{
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /given -o -path /tmp -o -path /var/log -o -path /var/lib/dpkg \
		-o -path /var/cache/ldconfig -o -path /etc/ld.so.cache \) -prune -o -printf '%p %y %m %s %l\n' | sort
}

removed()
{
	dpkg --purge "$1" >/tmp/log 2>&1 || fail "$1 is not removed: $(cat /tmp/log)"
	everything | diff /tmp/before - | sed 's/ d \([0-9]*\) [0-9]* / d \1 /' >/tmp/residue || true
	# a directory's size may stay when its entries go
	grep '^[<>]' /tmp/residue | sed 's/^[<>] //' | sort | uniq -u | grep . && fail "$1 has left something behind" || true
	if dpkg-query -W "$1" 2>/dev/null | grep -q .; then fail "dpkg remembers $1"; fi
}

everything >/tmp/before
dpkg -i /given/ucxbpf-tools_*.deb >/tmp/log 2>&1 || fail "tools: $(cat /tmp/log)"
removed ucxbpf-tools
mkdir /tmp/job
cd /tmp/job

# without the tracer, as any user
dpkg -i /given/ucxbpf-tools_*.deb >/tmp/log 2>&1 || fail "tools: $(cat /tmp/log)"
su -s /bin/sh nobody -c 'ucxbpf replay --json /given/gromacs.ucxb' >/tmp/report.json || fail "replay: $?"
cmp /tmp/report.json /given/gromacs.json || fail "replay: another report than the tests have"
for form in html sqlite perfetto csv; do
	ucxbpf export -f $form -o /tmp/job/out.$form /given/gromacs.ucxb || fail "export -f $form: $?"
done
ucxbpf check /given/gromacs.ucxb >/dev/null || [ $? -le 3 ] || fail "check: $?"
ucxbpf policy rules | grep -q PATH-01 || fail "policy rules"
ucxbpf diff /given/gromacs.ucxb /given/gromacs.ucxb >/dev/null || fail "diff: $?"
status=0
ucxbpf attach 1 2>/tmp/log || status=$?
[ $status = 8 ] && grep -q 'install the package ucxbpf' /tmp/log || fail "attach of the tools: $status, $(cat /tmp/log)"
if ldd "$(command -v ucxbpf)" | grep 'not found'; then fail "a library is missing"; fi
[ -e /usr/share/man/man1/ucxbpf-replay.1.gz ] && [ ! -e /usr/share/man/man1/ucxbpf-attach.1.gz ] || fail "pages of the tools"

# the tracer takes their place
dpkg -i /given/ucxbpf_*.deb >/tmp/log 2>&1 || fail "tracer: $(cat /tmp/log)"
if dpkg-query -W -f '${db:Status-Status}' ucxbpf-tools 2>/dev/null | grep -qx installed; then fail "both are installed"; fi
ucxbpf doctor >/tmp/doctor 2>&1 || true
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 UCX_TLS=posix,self,cma
export OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any
ucxbpf run -q -o /tmp/job/job.ucxb -- mpirun.openmpi -n 2 --oversubscribe /given/cg 200 1 >/tmp/job/out 2>&1 ||
	fail "run: $?: $(cat /tmp/job/out /tmp/doctor)"
ucxbpf replay --json /tmp/job/job.ucxb >/tmp/job/job.json || fail "replay: $?"
grep -q '"MPI_' /tmp/job/job.json && grep -q '"posix"' /tmp/job/job.json || fail "nothing in the report: $(ucxbpf replay /tmp/job/job.ucxb)"
ucxbpf replay /tmp/job/job.ucxb | head -n 2
[ "$(ls /usr/bin/ucxbpf*)" = "/usr/bin/ucxbpf
/usr/bin/ucxbpf-traffic-mpich
/usr/bin/ucxbpf-traffic-openmpi" ] || fail "programs: $(ls /usr/bin/ucxbpf*)"
grep -qx 'ExecStart=/usr/bin/ucxbpf serve .*' /usr/lib/systemd/system/ucxbpf-serve.service || fail "no unit"
[ ! -e /etc/systemd/system/multi-user.target.wants/ucxbpf-serve.service ] || fail "the unit is on"
[ -e /usr/share/ucxbpf/serve/grafana.json ] || fail "no dashboard"
[ -x /usr/share/ucxbpf/serve/slurm-prolog.sh ] && [ -x /usr/share/ucxbpf/serve/slurm-epilog.sh ] || fail "no scripts for Slurm"
[ -e /usr/share/bash-completion/completions/ucxbpf ] || fail "no completion"
rm -rf /tmp/job
removed ucxbpf
