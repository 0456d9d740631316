#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The system's python3, with a cffi module built by our oshcc, forks 100 times after shmem_init and goes on.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
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
for settings in SHMEM_STATIC=auto SHMEM_STATIC=on SHMEM_STATIC=off; do
    run_job 60 env $settings PYTHONPATH="$tap_dir" ${preload:+LD_PRELOAD="$preload"} "$prefix/bin/oshrun" -n 2 $python "$top_srcdir/test/mp/python_fork.py"
    if [ "$status" = 0 ]; then tap_ok "python3 forks 100 times, $settings"
    else tap_fail "python3 forks 100 times, $settings" "see above"
    fi
done
tap_done
