#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Breaks the reader of completions of kernels' queues in one place at a time: test/unit/efa_gda_cq notices each. A mutant is
# an edit of a copy of the sources.
# timeout: 200
. "${top_srcdir:-.}/test/common/tap.sh"
flags="-std=gnu11 -O0 -w -I$tap_dir -I$top_srcdir"

${CC:-cc} $flags -c "$top_srcdir/test/common/unit.c" -o "$tap_dir/unit.o" 2>"$err" || tap_skip_all "no CUnit (libcunit1-dev)"

# build: the test with the copies in $tap_dir.
build()
{
    # shellcheck disable=SC2086
    ${CC:-cc} $flags "$top_srcdir/test/unit/efa_gda_cq.c" "$tap_dir/transports/efa/gda/cq.c" "$tap_dir/unit.o" -lcunit \
        -o "$tap_dir/test" >"$out" 2>"$err"
}

fresh()
{
    mkdir -p "$tap_dir/transports/efa/gda"
    cp "$top_srcdir"/transports/efa/gda/cq.[ch] "$tap_dir/transports/efa/gda/"
}

# mutant NAME FILE EDIT
mutant()
{
    fresh
    sed -i "$3" "$tap_dir/transports/efa/gda/$2"
    if cmp -s "$top_srcdir/transports/efa/gda/$2" "$tap_dir/transports/efa/gda/$2"; then
        tap_fail "$1" "the edit of $2 does not fit the source any more: $3"
    elif ! build; then
        tap_fail "$1" "does not compile"
    else
        run_job 5 "$tap_dir/test"
        tap_check "$1: caught" test "$status" != 0
    fi
}

fresh
build
run_job 5 "$tap_dir/test"
tap_check "as it is" test "$status" = 0
mutant 'quiet by count: the mark is how many there were' cq.c 's/window->mark += run;/window->mark = window->count;/'
mutant 'bits stay for the next turn' cq.c 's/\*word &= run == 64.*/;/'
mutant 'a word that is all ones is cleared by a shift of 64' cq.c 's/run == 64 ? 0 : //'
mutant 'advance ends with the first word' cq.c 's/while (at + run == 64)/while (0)/'
mutant 'the PE is a part of the number' cq.h 's/ & (((uint64_t)1 << WSH_EFA_GDA_NUMBER_BITS) - 1);/;/'
mutant 'a completion that comes twice counts twice' cq.h 's/ahead >= window->entries ||.*)$/ahead >= window->entries)/'
mutant 'a number that is not under way counts' cq.h 's/ahead >= window->entries || //'
mutant 'a wider window forgets' cq.c 's/if (is_in(&old, i))/if (0)/'
mutant 'a wider window begins elsewhere' cq.c 's/wider.mark = old.mark;/wider.mark = 0;/'
mutant 'the window has no limit' cq.c 's/ || ahead >= WSH_EFA_GDA_WINDOW_MAX//'
mutant 'the phase does not turn' cq.h 's/(cq->taken \/ cq->entries & 1)/0u/'
mutant 'the phase begins with 0' cq.h 's/(head >> 24 & 1) == /(head >> 24 \& 1) != /'
mutant 'ids have 16 bits' cq.h 's/(first & 0xffff) | .*/(first \& 0xffff);/; /atomic_load_n(&words\[1\]/s/.*/(void)words;/'
mutant 'ids have 32 bits' cq.h 's/ | __atomic_load_n(&words\[1\], __ATOMIC_RELAXED) << 32//'
mutant 'an error is not seen' cq.h 's/head >> 16 & 0xff/0/'
mutant 'what was received counts as sent' cq.h 's/(head >> 25 & 3) == 1/true/'
mutant 'what was received is counted' cq.c '/if (wsh_unlikely(!completion.sent))/,+1d'
mutant 'an error is as good as success' cq.c 's/completion.status ? -EIO : note/note/'
mutant 'the mark stays' cq.c '/^    if (n)$/,+1d'
mutant 'every NIC is as if this PE had it alone' cq.c 's/(pes \* rails + nics - 1) \/ nics/1/'
mutant 'shares of a NIC are rounded up' cq.c 's/(pes \* rails + nics - 1) \/ nics/pes * rails \/ nics/'
tap_done
