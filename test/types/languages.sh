#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs compile without a warning: every test of this folder as C11, C17 and later, typed calls as C99, C++ from
# C++11 on, and C where iso646.h and macros of the program stand in the way of names. WSH_TEST_LONG=1: the tests of this
# folder by each standard, else by the oldest and the newest.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
folder=$top_srcdir/test/types

# compiles NAME COMPILER FLAGS… FILE: a case when the compiler exists and knows the standard.
compiles()
{
    name=$1
    shift
    command -v "$1" >/dev/null || return 0
    "$@" -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$top_srcdir" -I"$top_srcdir/include" >"$out" 2>"$err"
    status=$?
    grep -q 'invalid value\|unrecognized command.line option' "$err" && return 0
    tap_check "$name" test "$status" = 0
}

cat >"$tap_dir/typed.c" <<'END'
#include <iso646.h>
#define put 1
#define g 2
#define NAME 3
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <pshmem.h>
#include <shmemx.h>
static shmem_team_t team = SHMEM_TEAM_SHARED;
static const int levels[] = {SHMEM_THREAD_SINGLE, _SHMEM_CMP_EQ, _SHMEM_MAJOR_VERSION};
int main(void)
{
    static long word;
    uint64_t one = 1;
    start_pes(0);
    shmem_long_put(&word, &word, 1, 0);
    shmem_ctx_long_atomic_fetch_add(SHMEM_CTX_DEFAULT, &word, 1, 0);
    shmem_putmem_signal(&word, &word, 8, &one, 1, SHMEM_SIGNAL_SET, 0);
    if (shmem_long_test_any(&word, 1, NULL, SHMEM_CMP_GE, 0) == SIZE_MAX)
        pshmem_global_exit(levels[0]);
    shmem_wait(&word, shmem_long_cswap(&word, 1, shmem_long_fadd(&word, 1, 0), 0) + _my_pe());
    shmem_wait_until(&word, SHMEM_CMP_NE, 0);
    shfree(shrealloc(shmalloc(8), _num_pes() > 1 ? 16 : 8));
    shmem_pcontrol(1, "words", 2);
    shmem_ctx_session_config_t config = {SIZE_MAX};
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    pshmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    return shmem_team_my_pe(team);
}
END
cat >"$tap_dir/generic.c" <<'END'
#include <iso646.h>
#define put 1
#define g 2
#define p 3
#define TABLE 4
#include <shmem.h>
static const volatile long here = 1;
int main(void)
{
    static long words[4];
    static volatile int flag;
    void (*set)(uint64_t *, uint64_t, int) = shmem_signal_set;
    uint64_t *sig = (uint64_t *)words;
    shmem_put(words, (const long *)&words[1], (size_t)here, shmem_my_pe());
    shmem_p(SHMEM_CTX_DEFAULT, words, shmem_g(words, (int)shmem_g(words, 0)), 0);
    shmem_atomic_and((int64_t *)sig, 1, 0);
    shmem_atomic_inc((int *)&flag, 0);
    set(sig, shmem_signal_fetch(sig), 0);
    (shmem_signal_set)(sig, 1, 0);
    (shmem_wait_until)(words, SHMEM_CMP_NE, shmem_fetch(words, 0));
    shmem_wait_until((short *)words, SHMEM_CMP_NE, 1);
    return shmem_sync(SHMEM_TEAM_WORLD);
}
END
for cc in gcc clang; do
    for std in c99 gnu99 c11 gnu11 c17 c2x; do
        compiles "typed calls: $cc -std=$std" $cc -std=$std "$tap_dir/typed.c"
    done
    for std in c11 gnu11 c17 c2x; do
        compiles "generic calls: $cc -std=$std" $cc -std=$std "$tap_dir/generic.c"
        case ${WSH_TEST_LONG:-0}:$std in 0:gnu11 | 0:c17) continue ;; esac
        for source in "$folder"/*.c; do
            compiles "$(basename "$source"): $cc -std=$std" $cc -std=$std "$source"
        done
    done
done
for cxx in g++ clang++; do
    for std in c++11 c++17 gnu++20; do
        compiles "typed calls: $cxx -std=$std" $cxx -std=$std -x c++ "$tap_dir/typed.c"
    done
    compiles "cxx17.cc: $cxx -std=c++17" $cxx -std=c++17 "$folder/cxx17.cc"
done

# few CALL: without an argument it is refused by one error, which says so.
few()
{
    printf '#include <shmem.h>\nlong box, value;\nint main(void)\n{\n    %s;\n    return 0;\n}\n' "$1" >"$tap_dir/few.c"
    run_job 20 ${CC:-cc} "-I$top_srcdir/include" -fsyntax-only "$tap_dir/few.c"
    tap_check "refused: $1" test "$status:$(grep -c 'error:' "$err"):$(grep -c "error: .*arguments_are_missing" "$err")" = 1:1:1
}
few 'shmem_put(&box, &value, 1)'
few 'shmem_p(&box, 1)'
few 'shmem_atomic_inc(&box)'
tap_done
