# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced after tap.sh by the tests of the Python packages: finds a python3 with numpy and pytest, or skips.
#   run_pytest LAUNCHER PES FILE...     prints a line a test (run.py); LAUNCHER is oshrun, uid, mpirun or none
# WSH_TEST_PYTHON names another python3, WSH_PY_KIND other arrays than numpy's (run.py), WSH_PY_LIMIT a limit in seconds.
# The first of PATH, else the system's, whose packages apt-get installs.
python=${WSH_TEST_PYTHON:-python3}
[ -n "${WSH_TEST_PYTHON:-}" ] || $python -c 'import numpy, pytest' 2>/dev/null || [ ! -x /usr/bin/python3 ] ||
    python=/usr/bin/python3
# Those of the package warpshmem that run on several PEs.
pes_memory_files="test_pes_arrays.py test_pes_rma.py test_pes_atomics.py test_pes_collectives.py test_pes_requests.py test_pes_errors.py"
pes_files="$pes_memory_files test_pes_quick.py test_pes_streams.py"

[ -z "${WSH_TEST_VARIANT:-}" ] || [ "$WSH_TEST_VARIANT" = clang ] || tap_skip_all "python3 loads no sanitizer"
command -v "$python" >/dev/null || tap_skip_all "no python3 (apt-get install python3)"
$python -c 'import sys; sys.exit(sys.version_info < (3, 9))' || tap_skip_all "python3 is older than 3.9"
for module in numpy pytest; do
    $python -c "import $module" 2>/dev/null || tap_skip_all "no $module for python3 (apt-get install python3-$module)"
done

python_source=$(cd "$top_srcdir/python" && pwd)
PYTHONPATH=$python_source${PYTHONPATH:+:$PYTHONPATH}
WARPSHMEM_LIBRARY_DIR=$(cd "$top_builddir/.libs" && pwd)
WSH_PY_OSHRUN=$(cd "$top_builddir" && pwd)/oshrun
PYTHONDONTWRITEBYTECODE=1
# Where the extension module is built, no test goes by ctypes unawares.
[ ! -e "$WARPSHMEM_LIBRARY_DIR/_calls.abi3.so" ] || WARPSHMEM_PYTHON_CALLS=${WARPSHMEM_PYTHON_CALLS:-extension}
[ -z "${WARPSHMEM_PYTHON_CALLS:-}" ] || export WARPSHMEM_PYTHON_CALLS
export PYTHONPATH WARPSHMEM_LIBRARY_DIR WSH_PY_OSHRUN PYTHONDONTWRITEBYTECODE

run_pytest()
{
    launcher=$1 pes=$2
    shift 2
    [ "$pes" -le "${WSH_TEST_PES_MAX:-$pes}" ] || return 0
    (cd "$top_srcdir/test/python" && $python run.py --launcher "$launcher" --pes "$pes" --from $((tap_cases + 1)) \
        --kind "${WSH_PY_KIND:-numpy}" --limit $((${WSH_PY_LIMIT:-120} * ${WSH_TEST_SLOW:-1})) "$@") 2>"$err" |
        tee "$out" | sed -u '/^# next /d'
    tap_comment "$err"
    next=$(sed -n 's/^# next //p' "$out")
    if [ -n "$next" ]; then tap_cases=$((next - 1)); else tap_fail "run.py $launcher $pes $*" "it ended early"; fi
}
