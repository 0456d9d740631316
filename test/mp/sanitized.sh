#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program without leaks ends with 0 under AddressSanitizer, as oshcc links it, and as others link it with the installed
# list; a leak of its own is found. The same under valgrind.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ -z "${WSH_TEST_VARIANT:-}" ] || tap_skip_all "the library itself is built for $WSH_TEST_VARIANT"
cat >"$tap_dir/program.c" <<'END'
#include <shmem.h>
#include <stdlib.h>
static long word;
static __attribute__((noinline)) void lose(int n)
{
    for (char *volatile lost; n--; lost[0] = 1) lost = malloc(77);
}
int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    if (argc > 1) lose(9);
    shmem_long_p(&word, 1, shmem_my_pe());
    shmem_barrier_all();
    shmem_finalize();
    return word != 1;
}
END
# ends NAME STATUS COMMAND…
ends()
{
    name=$1 wanted=$2
    shift 2
    run_job 120 "$@"
    if [ "$wanted" = 0 ]; then tap_check "$name" test "$status" = 0
    else tap_check "$name" test "$status" -ne 0; fi
}
unset LSAN_OPTIONS ASAN_OPTIONS
listed="env LSAN_OPTIONS=suppressions=$top_srcdir/tools/lsan.supp:print_suppressions=0"
for cc in "${CC:-cc}" clang; do
    command -v "${cc##* }" >/dev/null || { tap_skip "$cc" "not there"; continue; }
    if ! SHMEM_CC=$cc "$top_builddir/oshcc" -g -fsanitize=address -o "$tap_dir/program" "$tap_dir/program.c" >"$out" 2>"$err"; then
        tap_skip "$cc" "it has no AddressSanitizer"
        continue
    fi
    # shellcheck disable=SC2086
    $cc -g -fsanitize=address $("$top_builddir/oshcc" --showme:compile) -o "$tap_dir/other" "$tap_dir/program.c" \
        $("$top_builddir/oshcc" --showme:link)
    ends "$cc: linked by oshcc" 0 "$oshrun" -n 2 "$tap_dir/program"
    ends "$cc: … a leak of its own" 1 "$oshrun" -n 2 "$tap_dir/program" leak
    tap_check "$cc: … which is named" grep -q 'Direct leak of' "$err"
    ends "$cc: linked without it, with the list" 0 $listed "$oshrun" -n 2 "$tap_dir/other"
    ends "$cc: … a leak of its own" 1 $listed "$oshrun" -n 2 "$tap_dir/other" leak
done
command -v valgrind >/dev/null || { tap_skip valgrind "no valgrind"; tap_done; }
"$top_builddir/oshcc" -g -o "$tap_dir/program" "$tap_dir/program.c" || exit 99
checked="valgrind -q --leak-check=full --error-exitcode=1 --suppressions=$top_srcdir/tools/valgrind.supp"
# shellcheck disable=SC2086
ends valgrind 0 "$oshrun" -n 2 $checked "$tap_dir/program"
# shellcheck disable=SC2086
ends "valgrind: a leak of its own" 1 "$oshrun" -n 2 $checked "$tap_dir/program" leak
tap_done
