#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands of the guide's pages on tools and choices work as they stand there, and print what the pages say. A block
# without a language is commands; one of `text` after it is what they print, a line in a line, where … stands for any text;
# another whose first line names a file is that file. `./program` is the README's. A tool that is not here is a skip, and so
# are, but for WSH_TEST_LONG, blocks that take seconds.
#   pages.sh [PAGE…]     these pages of docs/guide alone: debugging which
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
need_plain "a program without sanitizers does not go with the library of"
pages=${*:-debugging profiling migrating faq compatibility versions which}
prefix=$tap_dir/prefix
PATH=$top_builddir:$PATH PKG_CONFIG_PATH=$top_builddir SHMEM_SYMMETRIC_SIZE=16M
export PATH PKG_CONFIG_PATH SHMEM_SYMMETRIC_SIZE
unset LSAN_OPTIONS ASAN_OPTIONS TSAN_OPTIONS

# What `make install` puts below /usr/local, and where CUDA's headers are.
mkdir -p "$prefix/share" "$prefix/share/doc/warpshmem" "$prefix/lib" || exit 99
ln -s "$top_srcdir/tools" "$prefix/share/warpshmem"
ln -s "$top_srcdir/examples" "$prefix/share/doc/warpshmem/examples"
for file in "$top_builddir"/.libs/*.so*; do ln -s "$file" "$prefix/lib/"; done
nvcc=$(sed -n 's/^NVCC = //p' "$top_builddir/Makefile")
[ -z "$nvcc" ] || ln -s "$(dirname "$(dirname "$nvcc")")" "$prefix/cuda"

# split PAGE FOLDER: its blocks as files, 001.sh, 001.text, NAME.c …
split()
{
    awk -v folder="$2" '
    /^```/ {
        if (inside) { inside = 0; if (file) close(file); next }
        inside = 1
        language = substr($0, 4)
        if (language == "") file = sprintf("%s/%03d.sh", folder, ++n)
        else if (language == "text") file = sprintf("%s/%03d.text", folder, n)
        else file = ""
        next
    }
    inside && !file { file = match($0, /[a-z_]+[.](c|py)/) ? folder "/" substr($0, RSTART, RLENGTH) : "/dev/null" }
    inside { print >file }' "$1"
}

# calls FILE TOOLS: one of them, an expression, is called there.
calls()
{
    grep -qE "(^|[ |('-])($2)[ =]" "$1"
}

# Why a block cannot run here, or not now; nothing if it can.
why_not()
{
    for tool in gdb valgrind perf clang mpirun python3 strace; do
        if calls "$1" $tool && ! command -v $tool >/dev/null; then echo "no $tool"; return; fi
    done
    if calls "$1" 'compute-sanitizer|nsys|oshnvcc' && [ ! -e /dev/nvidiactl ]; then echo "no NVIDIA GPU here"
    elif calls "$1" 'srun|salloc|sbatch' && [ -z "${SLURM_JOB_ID:-}" ]; then echo "not in a Slurm job"
    elif grep -q -e --emulate-efa "$1" && [ ! -e "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
        echo "the emulator is not built (libibverbs-dev)"
    elif grep -q 'local/cuda/' "$1" && [ ! -e "$prefix/cuda/include/nvtx3/nvToolsExt.h" ]; then echo "no headers of NVTX"
    elif [ "${WSH_TEST_LONG:-0}" != 1 ] && { calls "$1" 'gdb|valgrind|perf|strace|sleep|mpirun' ||
        grep -qE -e '-fsanitize=|--emulate-efa|bug late' "$1"; }; then echo "long (make check-long)"
    elif calls "$1" perf && ! perf stat true >"$out" 2>&1; then echo "perf may not count here"
    elif calls "$1" 'gdb|strace' && ! may_trace "$1"; then echo "no process may be traced here"
    fi
}

# Whether a process may trace its children, and with `gdb -p` others.
may_trace()
{
    if calls "$1" 'gdb .*-p' && [ "$(id -u)" != 0 ] && ! grep -qsx 0 /proc/sys/kernel/yama/ptrace_scope; then return 1; fi
    ! calls "$1" gdb || ! gdb -batch -ex run --args true 2>&1 | grep -q 'not permitted' || return 1
    ! calls "$1" strace || strace -o "$out" true 2>"$err"
}

# lacks TEXT OUTPUT: the first line of TEXT that no line of OUTPUT has.
lacks()
{
    awk '
    FILENAME == ARGV[1] { line[++n] = $0; next }
    {
        parts = split($0, part, "…")
        for (i = 1; i <= n; i++) {
            rest = line[i]
            for (p = 1; p <= parts; p++) {
                if (part[p] == "") continue
                at = index(rest, part[p])
                if (!at) break
                rest = substr(rest, at + length(part[p]))
            }
            if (p > parts) next
        }
        print
        exit
    }' "$2" "$1"
}

# What a page shows of a job that fails.
failures='killed by signal|SIGSEGV|ERROR: |is no option|overlap: '

# block PAGE FILE: runs it
block()
{
    name="$1: $(grep -v '^#' "$2" | head -n 1 | sed 's/ *#.*//')"
    why=$(why_not "$2")
    if [ -n "$why" ]; then tap_skip "$name" "$why"; return; fi
    sed "s|/usr/local/|$prefix/|g" "$2" >"$2.here"
    run_job 60 sh -c 'cd "$(dirname "$1")" && exec sh -u "$1"' sh "$2.here"
    text=${2%.sh}.text
    if [ ! -e "$text" ]; then tap_check "$name" test "$status" = 0; return; fi
    if [ "$status" != 0 ] && ! grep -qE "$failures" "$text"; then tap_fail "$name" "status 0 is wanted"; return; fi
    cat "$out" "$err" >"$tap_dir/both"
    missing=$(lacks "$text" "$tap_dir/both")
    if [ -z "$missing" ]; then tap_ok "$name"; else tap_fail "$name" "the page has the line: $missing"; fi
}

# planted RESULT COMMAND LINE: a page with that command, and that line as what it prints, has this result.
planted()
{
    printf '```\n%s\n```\n```text\n%s\n```\n' "$2" "$3" >"$tap_dir/planted.md"
    mkdir -p "$tap_dir/planted"
    split "$tap_dir/planted.md" "$tap_dir/planted"
    (block planted "$tap_dir/planted/001.sh") >"$tap_dir/result"
    tap_check "a page that says '$3' of '$2': $1" grep -q "^$1 [0-9]* - planted: " "$tap_dir/result"
}
planted ok "echo one two three" "one … three"
planted "not ok" "echo one two three" "one … four"
planted "not ok" "echo one; exit 3" "one"

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/README.md" >"$tap_dir/program.c"
oshcc -g -o "$tap_dir/program" "$tap_dir/program.c" || exit 99
for page in $pages; do
    folder=$tap_dir/$page
    mkdir "$folder"
    cp "$tap_dir/program.c" "$tap_dir/program" "$folder"
    split "$top_srcdir/docs/guide/$page.md" "$folder"
    for file in "$folder"/[0-9]*.sh; do
        [ -e "$file" ] || { tap_fail "$page.md" "it has no commands"; continue; }
        block "$page" "$file"
    done
done
tap_done
