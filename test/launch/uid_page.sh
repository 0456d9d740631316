#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs of docs/guide/start.md work as they stand there: the C program by its own commands, the Python function with
# a store of files.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
page=$top_srcdir/docs/guide/start.md
SHMEM_SYMMETRIC_SIZE=4M
export SHMEM_SYMMETRIC_SIZE

# program LANGUAGE
program()
{
    awk -v word="$1" '$0 == "```" word { inside = 1; next } /^```$/ { inside = 0 } inside' "$page"
}

program c >"$tap_dir/hello.c"
${CC:-cc} -std=gnu11 -Wall -Wextra -Werror "-I$top_srcdir/include" -o "$tap_dir/hello" "$tap_dir/hello.c" "-L$top_builddir/.libs" \
    -lwarpshmem >"$out" 2>"$err"
status=$?
tap_check "the C program compiles" test "$status" = 0
case ${WSH_TEST_VARIANT:-clang} in
    clang) ;;
    *) tap_skip "runs as 4 PEs" "a program without sanitizers does not go with the library of $WSH_TEST_VARIANT"
        tap_done ;;
esac
for r in 0 1 2 3; do
    RANK=$r WORLD_SIZE=4 ID_FILE=$tap_dir/id timeout 30 "$tap_dir/hello" &
done >"$out" 2>"$err"
wait
sort "$out" >"$tap_dir/found"
printf 'PE %d of 4 got %d\n' 0 103 1 100 2 101 3 102 >"$tap_dir/wanted"
tap_check "runs as 4 PEs" cmp -s "$tap_dir/wanted" "$tap_dir/found"
tap_check "the id is removed" test ! -e "$tap_dir/id"

# refuses NAME: rank 1 does not believe the file.
refuses()
{
    RANK=1 WORLD_SIZE=2 ID_FILE=$tap_dir/id run_job 20 "$tap_dir/hello"
    tap_check "$1" test "$status" = 2 -a "$(grep -c "is not a file of this user's own" "$err")" = 1
}
head -c 128 /dev/zero >"$tap_dir/id"
chmod 644 "$tap_dir/id"
refuses "an id that others may read is none"
if [ "$(id -u)" = 0 ]; then
    chmod 600 "$tap_dir/id"
    chown 65534 "$tap_dir/id"
    refuses "an id of another user is none"
fi

command -v python3 >/dev/null || { tap_skip "the Python function starts 3 PEs" "no python3 (apt-get install python3)"; tap_done; }
{
    program python
    cat <<'END'
import os, sys, time

class FileStore:
    def __init__(self, folder):
        self.folder = folder
    def set(self, key, value):
        with open(f"{self.folder}/{key}.part", "wb") as file:
            file.write(value)
        os.rename(f"{self.folder}/{key}.part", f"{self.folder}/{key}")
    def get(self, key):
        while not os.path.exists(f"{self.folder}/{key}"):
            time.sleep(0.01)
        with open(f"{self.folder}/{key}", "rb") as file:
            return file.read()

rank = int(sys.argv[1])
for world in range(2):
    start(FileStore(sys.argv[2]), rank, 3, f"world {world}")
    shmem.shmem_barrier_all()
    os.write(1, f"PE {shmem.shmem_my_pe()} of {shmem.shmem_n_pes()}\n".encode())
    shmem.shmem_finalize()
END
} >"$tap_dir/hello.py"
for r in 0 1 2; do
    timeout 30 python3 "$tap_dir/hello.py" $r "$tap_dir" &
done >"$out" 2>"$err"
wait
sort "$out" >"$tap_dir/found"
printf 'PE %d of 3\n' 0 0 1 1 2 2 >"$tap_dir/wanted"
tap_check "the Python function starts 3 PEs, twice" cmp -s "$tap_dir/wanted" "$tap_dir/found"

# The parent makes the id, and its forked children are the PEs.
{
    program python
    cat <<'END'
import os

class Given:
    def set(self, key, value):
        self.value = value
    def get(self, key):
        return self.value

id = (ctypes.c_ubyte * 128)()
assert not shmem.shmemx_get_uniqueid(ctypes.byref(id))
store = Given()
store.set("", bytes(id))
children = []
for rank in range(3):
    child = os.fork()
    if not child:
        attr = Attr(version=1, cuda_device=-1, rank=rank, n_ranks=3)
        attr.id[:] = store.get("")
        assert not shmem.shmemx_init_attr(1, ctypes.byref(attr))
        os.write(1, f"PE {shmem.shmem_my_pe()} of {shmem.shmem_n_pes()}\n".encode())
        shmem.shmem_finalize()
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
END
} >"$tap_dir/fork.py"
timeout 30 python3 "$tap_dir/fork.py" >"$out" 2>"$err"
status=$?
sort "$out" >"$tap_dir/found"
printf 'PE %d of 3\n' 0 1 2 >"$tap_dir/wanted"
tap_check "forked children of a Python process that made the id" cmp -s "$tap_dir/wanted" "$tap_dir/found"
tap_done
