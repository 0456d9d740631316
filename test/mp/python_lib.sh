# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced after tap.sh by the tests with python3: builds the cffi module wsh_cffi with an installed oshcc, or skips.
#   run_python LIMIT PES SETTINGS SCRIPT     runs it under oshrun with that module
python=/usr/bin/python3

[ -x $python ] || tap_skip_all "no /usr/bin/python3 (apt-get install python3)"
$python -c 'import cffi, setuptools' 2>/dev/null || $python -c 'import cffi, distutils' 2>/dev/null ||
    tap_skip_all "no cffi for python3 (apt-get install python3-cffi python3-dev python3-setuptools)"
[ -f "$($python -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ] ||
    tap_skip_all "no Python.h (apt-get install python3-dev)"

preload=
case ${WSH_TEST_VARIANT:-} in
    asan) preload=$(${CC:-gcc} -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 ;;
    tsan) tap_skip_all "the system's python3 is not built for ThreadSanitizer" ;;
esac

# oshcc finds headers and library of an installed tree: install one.
prefix=$tap_dir/prefix
if ! env -u MAKEFLAGS -u MAKELEVEL make -C "$top_builddir" -s install prefix="$prefix" exec_prefix="$prefix" >"$out" 2>"$err" </dev/null; then
    status=1
    tap_fail "installing into a folder" "make install failed"
    tap_done
fi
cd "$tap_dir" || exit 99
CC=$prefix/bin/oshcc LDSHARED="$prefix/bin/oshcc -shared" $python "$top_srcdir/test/mp/python_build.py" >"$out" 2>"$err"
status=$?
tap_check "cffi builds a module with oshcc" test -n "$(ls wsh_cffi*.so 2>/dev/null)"

run_python()
{
    limit=$1 pes=$2 settings=$3 script=$4
    run_job "$limit" env $settings PYTHONPATH="$tap_dir" ${preload:+LD_PRELOAD="$preload"} "$prefix/bin/oshrun" -n "$pes" \
        $python "$top_srcdir/test/mp/$script"
}
