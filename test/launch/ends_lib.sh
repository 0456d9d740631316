# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by ends.sh and slurm.sh: the table of how jobs end in which a PE ends before the others. A launcher is a command
# that runs the program $ends with 3 PEs and the arguments that follow. All rows run at once.

# In seconds: rows that hang end then.
ends_limit=$((90 * ${WSH_TEST_SLOW:-1}))
ends_rows=0

# ends_row LAUNCHER WANTED HOW WHO SECONDS [THEN]: starts one. WANTED: `good` (the others go on, status 0), `dies` (they are
# ended before SECONDS are over) or `needs` (they say that they need the PE that has left).
ends_row()
{
    ends_rows=$((ends_rows + 1))
    file=$tap_dir/row.$ends_rows
    echo "$*" >"$file"
    by=$1
    shift 2
    (
        began=$(date +%s%N)
        ends_number=$ends_rows "$by" "$@" >"$file.out" 2>"$file.err" </dev/null
        echo "$? $((($(date +%s%N) - began) / 1000000))" >"$file.end"
    ) &
}

# ends_judge: waits for the rows, prints the table, and is one case a row.
ends_judge()
{
    wait
    for row in $(seq "$ends_rows"); do
        file=$tap_dir/row.$row
        read -r by wanted how who apart then <"$file"
        read -r status took <"$file.end"
        on=$(grep -ac 'has gone on' "$file.out")
        printf '# %-12s PE %2s by %-11s %2s s before the others%s: status %3s, %s of 2 went on, %5s ms\n' \
            "$by" "$who" "$how" "$apart" "${then:+ ($then)}" "$status" "$on" "$took"
        cp "$file.out" "$out"
        cp "$file.err" "$err"
        case $wanted in
            good) test "$status:$on" = 0:2 ;;
            dies) test "$status" != 0 -a "$on" = 0 -a "$took" -lt $((apart * 1000)) ;;
            needs) test "$status" != 0 -a "$(grep -ac 'has left the job: its process has ended' "$err")" -ge 1 ;;
        esac && tap_ok "$by, PE $who by $how, $apart s before the others${then:+, which $then}: $wanted" ||
            tap_fail "$by, PE $who by $how, $apart s before the others${then:+, which $then}: $wanted" "status $status, $on went on, $took ms"
    done
    ends_rows=0
}

# ends_all LAUNCHER "MANNERS THAT ARE GOOD": rows of it; with WSH_TEST_LONG=1 all, 0, 3 and 30 s apart. A + behind a how: all
# PEs have called shmem_finalize before.
ends_all()
{
    if [ "${WSH_TEST_LONG:-0}" != 1 ]; then
        for how in $2; do ends_row "$1" good "$how" 0 3; done
        ends_row "$1" dies kill 0 20
        return
    fi
    for apart in 0 3 30; do
        for who in 0 -1; do
            for how in $2; do ends_row "$1" good "$how" "$who" "$apart"; done
        done
    done
    for who in 0 -1; do
        for how in exit3 kill; do ends_row "$1" dies "$how" "$who" 30; done
    done
}
