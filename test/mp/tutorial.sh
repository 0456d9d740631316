#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tutorial's answers compile without a warning and print what docs/guide/tutorial.md says, the first program and the
# mistake of exercise 1 too; the profiler of pshmem(7) counts their puts. With WSH_TEST_LONG other numbers of PEs and hosts.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
need_plain "a program without sanitizers does not go with the library of"
page=$top_srcdir/docs/guide/tutorial.md
answers=$top_srcdir/examples/tutorial
oshcc=$top_builddir/oshcc
SHMEM_SYMMETRIC_SIZE=4M SHMEM_LIBFABRIC_PROVIDER=tcp
export SHMEM_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER

# block N SECTION: the Nth block without a language in the section of that name.
block()
{
    awk -v wanted="$1" -v section="$2" '
        /^## / { here = $0 == "## " section; next }
        /^```/ { fenced = !fenced; if (fenced && here && $0 == "```") n++; next }
        fenced && here && n == wanted' "$page"
}

build()
{
    run_job 60 "$oshcc" -O2 -Wall -Wextra -Werror -std=c11 -pedantic "$@"
    [ "$status" = 0 ] || tap_fail "$*" "does not compile"
}

# prints PES HOSTS PROGRAM WANTED: its lines, in any order.
prints()
{
    run_job 60 "$oshrun" -n "$1" --nodes-emulated "$2" "$tap_dir/$3"
    sort "$out" >"$tap_dir/found"
    tap_check "$3, $1 PEs on $2 host(s)" sh -c "[ $status = 0 ] && sort '$4' | cmp -s - '$tap_dir/found'"
}

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" >"$tap_dir/start.c"
build -o "$tap_dir/start" "$tap_dir/start.c"
printf 'PE %d of 4\n' 0 1 2 3 >"$tap_dir/wanted"
prints 4 1 start "$tap_dir/wanted"

exercises=$(sed -n 's/^## [0-9] \(.*\)/\1/p' "$page")
tap_check "there are six exercises" test "$(echo "$exercises" | wc -l)" = 6
for name in $exercises; do
    section=$(sed -n "s/^## \([0-9] $name\)\$/\1/p" "$page")
    program=$(echo "$name" | tr '[:upper:]' '[:lower:]')
    block 1 "$section" >"$tap_dir/wanted.$program"
    build -o "$tap_dir/$program" "$answers/$program.c"
    prints 4 1 "$program" "$tap_dir/wanted.$program"
done

sed 's/^static long number.*//; s/^    shmem_init();/    long number;\n&/' "$answers/numbers.c" >"$tap_dir/local.c"
build -o "$tap_dir/local" "$tap_dir/local.c"
run_job 60 "$oshrun" -n 4 "$tap_dir/local"
without_values() { sed 's/([^)]*)/(NODE)/; s/0x[0-9a-f]*/ADDRESS/' "$@"; }
without_values "$err" >"$tap_dir/found"
line=$(block 2 "1 Numbers" | without_values)
tap_check "a local variable is refused as the page says" \
    test "$status" != 0 -a "$(grep -cxF -e "${line:-none}" "$tap_dir/found")" = 1

awk '/^[.]nf/ { inside = 1; text = ""; next } inside && /^[.]fi/ { inside = 0; if (text ~ /pshmem_long_put/) printf "%s", text } { text = text $0 "\n" }' \
    "$top_srcdir/include/man/pshmem.7" | sed 's/\\e/\\/g; s/\\-/-/g' >"$tap_dir/count.c"
build -o "$tap_dir/counted" "$answers/powers.c" "$tap_dir/count.c"
{ cat "$tap_dir/wanted.powers"; printf 'PE %d has put 12\n' 0 1 2 3; } >"$tap_dir/wanted"
prints 4 1 counted "$tap_dir/wanted"
build -fPIC -shared -o "$tap_dir/libcount.so" "$tap_dir/count.c"
run_job 60 "$oshrun" -n 4 -x "LD_PRELOAD=$tap_dir/libcount.so" "$tap_dir/powers"
sort "$out" >"$tap_dir/found"
tap_check "the profiler, preloaded" sh -c "[ $status = 0 ] && sort '$tap_dir/wanted' | cmp -s - '$tap_dir/found'"

tap_long "the answers on two emulated hosts" || tap_done
for name in $exercises; do
    program=$(echo "$name" | tr '[:upper:]' '[:lower:]')
    prints 4 2 "$program" "$tap_dir/wanted.$program"
done
for pes in 2 3 7; do
    run_job 60 "$oshrun" -n $pes --nodes-emulated 2 "$tap_dir/smooth"
    tap_check "smooth, $pes PEs on 2 hosts" sh -c "[ $status = 0 ] && grep -q ' 0 wrong\$' '$out'"
done
tap_done
