# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by ends.sh, slurm.sh and test/python/ends.sh: the table of how jobs end in which a PE ends before the others. A
# launcher is a command that runs the program with $ends_pes PEs and the arguments that follow. Sixteen rows run at once, in
# the long form four.

# In seconds: rows that hang end then; and a job in which a PE died has ended so long after it (rows at once are a load).
ends_limit=$((90 * ${WSH_TEST_SLOW:-1}))
ends_soon=$((5 * ${WSH_TEST_SLOW:-1}))
ends_late=3 # and so long after the last PE, one in which all is well
ends_at_once=16
[ "${WSH_TEST_LONG:-0}" != 1 ] || { ends_soon=$((2 * ${WSH_TEST_SLOW:-1})) ends_at_once=4; }
ends_pes=3
ends_rows=0
ends_pids=
mkfifo "$tap_dir/turns"
exec 9<>"$tap_dir/turns"
yes | head -n $ends_at_once >&9

# ends_row LAUNCHER WANTED HOW WHO SECONDS [THEN]: starts one. WANTED: `good` (the others go on, status 0), `needs` (they say
# that they need the PE that has left), or the status with which a PE that dies ends the job soon, before SECONDS are over.
ends_row()
{
    read -r _ <&9
    ends_rows=$((ends_rows + 1))
    file=$tap_dir/row.$ends_rows
    echo "$*" >"$file"
    by=$1
    shift 2
    (
        ends_number=$ends_rows "$by" "$@" >"$file.out" 2>"$file.err" </dev/null 9>&-
        echo "$? $(($(date +%s%N) / 1000000))" >"$file.end"
        echo y >&9
    ) &
    ends_pids="$ends_pids $!"
}

# The one status, or one of those between bars.
ends_status()
{
    case "|$1|" in *"|$status|"*) true ;; *) false ;; esac
}

# The row as wanted: sets $why to what is not.
ends_judge_row()
{
    why="status $status, $on went on, $took ms"
    case $wanted in
        good) [ "$status:$on" = "0:$((ends_pes - 1))" ] && [ "$took" -lt $(((apart + ends_late + ends_soon) * 1000)) ] ;;
        needs) [ "$status" != 0 ] && grep -aq 'has left the job: its process has ended' "$err" ;;
        *) ends_status "$wanted" && { [ "$apart" = 0 ] || [ "$on" = 0 ] && [ "$took" -lt $((ends_soon * 1000)) ]; } ;;
    esac && why=
}

# Lines of LAUNCHER WHO HOW THEN SECONDS STATUS TOOK become a table, with a column for each SECONDS.
ends_table()
{
    awk '
        { row = sprintf("%-13s PE %2s by %-11s %-9s", $1, $2, $3, $4 == "-" ? "" : $4) }
        !(row in seen) { seen[row] = 1; rows[++n] = row }
        { cell[row, $5] = sprintf("%s after %.1f s", $6, $7 / 1000) }
        END {
            printf "# %-43s %-18s %-18s %s\n", "the job'"'"'s status, and when it ended:", "others end at once", "3 s later", "8, 20, 30 s later"
            for (i = 1; i <= n; i++) {
                row = rows[i]
                last = cell[row, 30] cell[row, 20] cell[row, 8]
                line = sprintf("# %-43s %-18s %-18s %s", row, cell[row, 0], cell[row, 3], last)
                sub(/ *$/, "", line)
                print line
            }
        }' "$1"
}

# ends_judge: waits for the rows, is one case a row, and prints the table.
ends_judge()
{
    # shellcheck disable=SC2086
    wait $ends_pids # not for all: daemons of Slurm may be children too
    : >"$tap_dir/table"
    for row in $(seq "$ends_rows"); do
        file=$tap_dir/row.$row
        read -r by wanted how who apart then <"$file"
        read -r status ended <"$file.end"
        cp "$file.out" "$out"
        cp "$file.err" "$err"
        on=$(grep -ac 'has gone on' "$out")
        first=$(sed -n 's/.*PE [0-9]* ends at \([0-9]*\) ms.*/\1/p' "$out" | head -n 1)
        took=$((ended - ${first:-0}))
        name="${by%_}, PE $who by $how, $apart s before the others${then:+, which $then}: $wanted"
        ends_judge_row
        if [ -z "$why" ]; then tap_ok "$name"; else tap_fail "$name" "$why"; fi
        echo "${by%_} $who $how ${then:--} $apart $status $took" >>"$tap_dir/table"
    done
    ends_table "$tap_dir/table"
    ends_rows=0 ends_pids=
}

# ends_all LAUNCHER "MANNERS THAT ARE GOOD" STATUS-OF-KILL [STATUS-OF-EXIT3]: rows of it; with WSH_TEST_LONG=1 all, 0, 3 and
# 30 s apart. A + behind a how: all PEs have called shmem_finalize before.
ends_all()
{
    if [ "${WSH_TEST_LONG:-0}" != 1 ]; then
        for how in $2; do ends_row "$1" good "$how" 0 3; done
        ends_row "$1" "$3" kill 0 20
        return
    fi
    for apart in 0 3 30; do
        for who in 0 -1; do
            for how in $2; do ends_row "$1" good "$how" "$who" "$apart"; done
            ends_row "$1" "${4:-3}" exit3 "$who" "$apart"
            ends_row "$1" "$3" kill "$who" "$apart"
        done
    done
}
