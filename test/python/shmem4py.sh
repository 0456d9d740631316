#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shmem4py, built by oshcc as its documentation says, passes its own tests over this library; a program that uses mpi4py too
# runs under mpirun. Both come from PyPI. The version of shmem4py is of 2023, before numpy 2, with which 229 of its checks
# fail in Python before they come to the library. No other failures are known.
# timeout: 900
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
need_oshrun
[ -n "${WSH_TEST_LONG:-}" ] || tap_skip_all "takes minutes and PyPI: make check-long"
need_plain "python3 is not built for"
python=${PYTHON:-python3}
$python -c 'import ensurepip, venv' 2>/dev/null || tap_skip_all "no $python with venv (apt-get install python3-venv)"
[ -f "$($python -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ] ||
    tap_skip_all "no Python.h (apt-get install python3-dev)"

# Of the installed library nothing is found by LD_LIBRARY_PATH.
unset LD_LIBRARY_PATH
prefix=$tap_dir/prefix
run_job 300 env -u MAKEFLAGS -u MAKELEVEL make -C "$top_builddir" -s install prefix="$prefix" exec_prefix="$prefix"
tap_check "the library is installed" test "$status" = 0
PATH=$prefix/bin:$PATH
cd "$tap_dir" || exit 99

# from_pypi WORD…: skips what follows where PyPI does not give it.
from_pypi()
{
    run_job 300 venv/bin/pip install --disable-pip-version-check "$@"
    [ "$status" = 0 ] || tap_skip_all "pip install $*: $(tail -n 1 "$err")"
}

$python -m venv venv || tap_skip_all "$python -m venv fails"
from_pypi wheel setuptools cffi 'numpy<2'
run_job 300 venv/bin/pip download --no-deps --no-build-isolation --no-binary shmem4py shmem4py==1.0.0
[ "$status" = 0 ] || tap_skip_all "shmem4py cannot be had: $(tail -n 1 "$err")"
tar xf shmem4py-1.0.0.tar.gz

# One large file, with a warning for each deprecated routine.
run_job 600 env OSHCC=oshcc CFLAGS="-O0 -w" venv/bin/pip install --no-build-isolation ./shmem4py-1.0.0.tar.gz
tap_check "OSHCC=oshcc pip install shmem4py" test "$status" = 0

# passes PES NAME OPTION…: all its tests, in each PE.
passes()
{
    pes=$1 name=$2
    shift 2
    run_job 300 oshrun -n "$pes" "$@" venv/bin/python -W ignore -m unittest discover -q -s shmem4py-1.0.0/test
    echo "# $(grep '^Ran' "$err" | head -n 1)"
    tap_check "its tests, $name" test "$status:$(grep -c '^OK' "$err")" = "0:$pes"
}

passes 1 "1 PE"
passes 2 "2 PEs"
passes 4 "4 PEs"
passes 2 "2 PEs on two emulated hosts" --nodes-emulated 2

if ! command -v mpirun >/dev/null; then
    tap_skip "shmem4py with mpi4py" "no mpirun on PATH (apt-get install openmpi-bin)"
    tap_done
fi
from_pypi mpi4py
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
for order in mpi shmem; do
    for pes in 1 2 4; do
        run_job 60 mpirun --oversubscribe -n $pes venv/bin/python "$top_srcdir/test/python/mpi_and_shmem.py" $order
        tap_check "with mpi4py, $order first, $pes PEs" test "$status:$(grep -o ok "$out" | wc -l)" = "0:$pes"
    done
done
run_job 60 oshrun -n 2 venv/bin/python "$top_srcdir/test/python/mpi_and_shmem.py" mpi
if grep -q 'Open MPI' "$out"; then
    tap_check "under oshrun Open MPI's start is no silent job of one" \
        sh -c "[ $status != 0 ] && grep -q 'MPI_Init, called before shmem_init, has made it a job of one' '$err'"
else
    tap_skip "under oshrun Open MPI's start is no silent job of one" "another MPI"
fi
tap_done
