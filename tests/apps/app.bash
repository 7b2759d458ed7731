# SPDX-License-Identifier: BSD-3-Clause
# The applications as tests see them: a command line, and what of their output must not change.
# All run on Open MPI in the current folder.

APPS=$BUILD/tests/apps

# app_command NAME short|1|2|3: fills APP; the longer, the higher the number
app_command()
{
	local grid=(0 780 950 1200) steps=(0 1400 2500 5000)
	local moves=(0 2700 5000 10000) rounds=(0 3800 7000 14000)

	case $1:$2 in
	petsc:short) APP=("$APPS/ex2" -m 300 -n 300 -ksp_type cg -pc_type jacobi -ksp_monitor_short) ;;
	petsc:*) APP=("$APPS/ex2" -m "${grid[$2]}" -n "${grid[$2]}" -ksp_type cg -pc_type jacobi -ksp_monitor_short) ;;
	gromacs:short) APP=(gmx_mpi -quiet mdrun -s "$APPS/400.tpr" -reprod -ntomp 1 -nb cpu -c end.gro) ;;
	gromacs:*) APP=(gmx_mpi -quiet mdrun -s "$APPS/2500.tpr" -nsteps "${steps[$2]}" -reprod -ntomp 1 -nb cpu -c end.gro) ;;
	lammps:short) APP=(lmp -in "$TOP/tests/apps/lj.in" -var steps 500 -log none) ;;
	lammps:*) APP=(lmp -in "$TOP/tests/apps/lj.in" -var steps "${moves[$2]}" -log none) ;;
	mpi4py:short) APP=(/usr/bin/python3 "$TOP/tests/apps/collectives.py" 100) ;;
	mpi4py:*) APP=(/usr/bin/python3 "$TOP/tests/apps/collectives.py" "${rounds[$2]}") ;;
	esac
}

app_missing()
{
	case $1 in
	petsc) [ ! -x "$APPS/ex2" ] && echo "no libpetsc3.18-dev-examples" ;;
	gromacs) [ ! -e "$APPS/2500.tpr" ] && echo "no gromacs" ;;
	lammps) ! command -v lmp >/dev/null && echo "no lammps" ;;
	mpi4py) ! /usr/bin/python3 -c 'import mpi4py' 2>/dev/null && echo "no python3-mpi4py" ;;
	esac
}

# app_result NAME: from the output in ./out and files beside it, without anything that is a time
app_result()
{
	case $1 in
	petsc) grep -E 'Norm of error|KSP Residual' out ;;
	gromacs) cat end.gro ;;
	lammps) sed -n '/^Step/,/^Loop/p' out | grep -v ^Loop ;;
	mpi4py) grep ^collectives out ;;
	esac
}
