# SPDX-License-Identifier: BSD-3-Clause
# The table of compare: goals, the list of rows, OUT_FILE. Variables: program, pes, rounds, sides. Exit status 1: some
# rows have no figures of both libraries, or ours failed.
FNR == 1 { file++ }
file == 1 {
    if ($1 != program || ($2 != "*" && $2 != pes)) next
    goal_row[++goals] = "^" $3 "$"
    goal_value[goals] = $4
    goal_text[goals] = NF > 4 ? " (" $5 " " $6 ")" : ""
    next
}
file == 2 { order[++n] = $1; next }
$1 == "#" || NF < 11 { next }
{ id = $3 "." $4 "." $5 "." $6 "x" $7; if ($2 ~ /^nccl/) ways[$2] = 1 }
$8 == "-" { if ($11 != "lacks") fault[id, $2] = $11; else lacks[id, $2] = 1; next }
$12 == "WRONG" { fault[id, $2] = "wrong data"; next }
{
    unit[id] = $11
    count[id, $2]++
    for (part = 0; part < 3; part++) value[id, $2, part, $1] = $(8 + part)
}
# Of list[1 … m]; sorts it.
function middle(list, m,    i, j, t) {
    for (i = 2; i <= m; i++)
        for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return m % 2 ? list[(m + 1) / 2] : m ? (list[m / 2] + list[m / 2 + 1]) / 2 : 0
}
# Over the rounds, of part 0 = median, 1 and 2 = quartiles.
function median(id, side, part,    r, m, list) {
    for (r = 1; r <= 99; r++) if ((id, side, part, r) in value) list[++m] = value[id, side, part, r] + 0
    return middle(list, m + 0)
}
# Of times, ours to the other, round by round.
function ratio(id, other, side,    r, m, list, a, b) {
    for (r = 1; r <= 99; r++)
        if (((id, "ours", 0, r) in value) && ((other, side, 0, r) in value)) {
            a = value[id, "ours", 0, r]
            b = value[other, side, 0, r]
            list[++m] = unit[id] == "us" ? a / b : b / a
        }
    return middle(list, m + 0)
}
function verdict(id, other, side, q) {
    if (median(id, "ours", 1) <= median(other, side, 2) && median(other, side, 1) <= median(id, "ours", 2))
        return "level"
    return q < 0.97 ? "ahead" : q > 1.03 ? "behind" : "level"
}
# The goal of a misaligned row: half the bandwidth of the aligned one.
function judged(id, mine, against_nccl,    g, like, limit, text, met) {
    for (g = 1; g <= goals; g++)
        if (id ~ goal_row[g]) { limit = goal_value[g]; text = goal_text[g] }
    like = id
    if (sub(/_misaligned/, "", like) && count[like, "ours"]) {
        limit = median(like, "ours", 0) * (unit[id] == "us" ? 2 : 0.5)
        text = " (aligned: " sprintf("%.4g", median(like, "ours", 0)) ")"
    }
    if (!limit || (limit == "nccl" && against_nccl == "-")) return ""
    met = limit == "nccl" ? against_nccl == "ahead" : unit[id] == "us" ? mine <= limit + 0 : mine >= limit + 0
    if (met) reached++
    else missed++
    if (limit == "nccl") return "ahead of NCCL " (met ? "met" : "MISSED")
    return sprintf("%s %.4g%s %s", unit[id] == "us" ? "<=" : ">=", limit, text, met ? "met" : "MISSED")
}
function shown(id, side) {
    if (!count[id, side]) return sprintf("%9s %-18s", "-", "")
    return sprintf("%9.4g %-18s", median(id, side, 0),
                   sprintf("[%.4g,%.4g]", median(id, side, 1), median(id, side, 2)))
}
# Its fastest way for the row, in best_id and best_way: a graph stands beside all, a stream beside calls on streams.
function find_best(id,    way, like) {
    best_id = best_way = ""
    for (way in ways) {
        if (program == "jacobi") sub(/^[^.]*[.][^.]*[.]/, "stream.graph.", id) # its one variant, in a graph or not
        like = id
        better(id, way)
        if (sub(/[.]graph[.]/, ".stream.", like)) better(like, way)
    }
}
function better(id, way) {
    if (!count[id, way] || (best_way && median(best_id, best_way, 0) <= median(id, way, 0))) return
    best_id = id
    best_way = way
}
function way_name(    name) {
    name = substr(best_way, 5)
    sub(/^-/, "", name)
    return (name ? name : "default") (best_id ~ /[.]graph[.]/ ? " graph" : "")
}
# NCCL's part of a line; its verdict in nccl_says.
function beside_nccl(id,    q) {
    nccl_says = "-"
    find_best(id)
    q = best_way && count[id, "ours"] ? ratio(id, best_id, best_way) : 0
    if (q) { nccl_says = verdict(id, best_id, best_way, q); nccl_total[nccl_says]++ }
    return sprintf("%s %-24s %6s  %-7s ", best_way ? shown(best_id, best_way) : shown(id, "-"), best_way ? way_name() : "",
                   q ? sprintf("%.3f", q) : "-", nccl_says)
}
END {
    nccl = sides ~ /nccl/
    printf("# %-34s %-6s %9s %-18s %9s %-18s %6s  %-7s %s%s\n", "row", "unit", "ours", "[p25,p75]", "NVSHMEM",
        "[p25,p75]", "ratio", "verdict",
        nccl ? sprintf("%9s %-18s %-24s %6s  %-7s ", "NCCL", "[p25,p75]", "its best way", "ratio", "verdict") : "", "goal")
    for (i = 1; i <= n; i++) {
        id = other = order[i]
        sub(/_bulk/, "", other) # NVSHMEM has no such form: beside its plain one
        q = ratio(id, other, "peer")
        say = q ? verdict(id, other, "peer", q) : "-"
        if (fault[other, "peer"]) say = "peer " fault[other, "peer"]
        if (fault[id, "ours"]) { say = fault[id, "ours"]; failed++ }
        total[say]++
        if ((!count[id, "ours"] && !(nccl && lacks[id, "ours"])) ||
            (sides ~ /peer/ && !count[other, "peer"] && !(nccl && lacks[other, "peer"]))) without++
        else if (count[id, "ours"] < rounds && !lacks[id, "ours"]) fewer++
        beside = nccl ? beside_nccl(id) : ""
        printf "%-36s %-6s %s %s %6s  %-7s %s%s\n", id, unit[id], shown(id, "ours"), shown(other, "peer"),
            q ? sprintf("%.3f", q) : "-", say, beside,
            count[id, "ours"] ? judged(id, median(id, "ours", 0), nccl_says) : ""
    }
    printf "# %d rows: %d ahead, %d level, %d behind; ", n, total["ahead"], total["level"], total["behind"]
    if (nccl)
        printf "of NCCL: %d ahead, %d level, %d behind; ", nccl_total["ahead"], nccl_total["level"], nccl_total["behind"]
    printf "goals: %d met, %d missed; ", reached, missed
    printf "rows without figures of both: %d, failed: %d, of fewer rounds: %d\n", without, failed, fewer
    exit (without + failed > 0)
}
