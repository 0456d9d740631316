#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From main to the store (shared memory) or to libfabric (network), a put is three of our functions: shell, core, transport.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
put_once=$(test_program test/mp/helper/put_once)
script=$top_srcdir/test/mp/call_stack.py

command -v gdb >/dev/null || tap_skip_all "no gdb (apt-get install gdb)"
if ! timeout 20 gdb -nx -batch -ex 'python print("py" + "thon")' -ex run --args /bin/true 2>&1 | grep -q 'exited normally'; then
    tap_skip_all "gdb cannot start a program here (ptrace is not allowed)"
fi

# PE 0 runs under gdb, the others as usual.
cat >"$tap_dir/pe" <<END
#!/bin/sh
if [ "\${PMIX_RANK:-0}" = 0 ]; then
    exec gdb -nx -batch -x "$script" --args "$put_once"
fi
exec "$put_once"
END
chmod +x "$tap_dir/pe"

# three PATH WORDS: counts our functions.
three()
{
    grep '^frame: ' "$out" >"$tap_dir/frames" || :
    tap_comment "$tap_dir/frames"
    ours=$(grep 'libwarpshmem' "$tap_dir/frames" | grep -cv '; inline;')
    if [ "$ours" = 3 ]; then tap_ok "$1: three of our functions"
    else tap_fail "$1: three of our functions" "$ours were found"
    fi
}

export WSH_TEST_STACK=local
run_job 120 "$oshrun" -n 2 "$tap_dir/pe"
three "shared memory"
export WSH_TEST_STACK=efa SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
run_job 180 "$oshrun" -n 2 "$tap_dir/pe"
three "libfabric, tcp"
tap_done
