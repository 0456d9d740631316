/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of claims that follow the rows of internode: what is compared with what, and what is expected. */
#include "perftest/device/internode.h"

#include <string.h>

struct figure {
    struct dev_row row;
    double us;
    struct inter_counted counted;
};

static struct figure figures[DEV_MAX_ROWS];
static int n_figures;

void inter_claims_keep(const struct dev_row *row, double us, const struct inter_counted *counted)
{
    if (n_figures < DEV_MAX_ROWS)
        figures[n_figures++] = (struct figure){*row, us, *counted};
}

/* NULL: it was not wanted. */
static const struct figure *figure_find(int kind, enum dev_scope scope, size_t size, int threads)
{
    for (int i = 0; i < n_figures; i++) {
        const struct dev_row *row = &figures[i].row;

        if (row->kind == kind && row->scope == scope && row->size == size && row->threads == threads)
            return &figures[i];
    }
    return NULL;
}

/* The row that differs in what is done. */
static const struct figure *beside(const struct figure *f, enum inter_what what)
{
    return figure_find(INTER_KIND(what, inter_in_host(&f->row)), f->row.scope, f->row.size, f->row.threads);
}

static bool any(enum inter_group group)
{
    for (int i = 0; i < n_figures; i++)
        if (inter_group(&figures[i].row) == group)
            return true;
    return false;
}

static const char *memory(const struct figure *f)
{
    return inter_in_host(&f->row) ? "host" : "device";
}

/* a / b as text; - where one of them is missing. */
static const char *ratio(char *text, size_t size, const struct figure *a, const struct figure *b)
{
    if (!a || !b)
        return "-";
    snprintf(text, size, "%.2f", a->us / b->us);
    return text;
}

static void print_order(FILE *to, const struct figure *f)
{
    const struct dev_row *row = &f->row;
    char text[32];

    fprintf(to, "# %-26s %7zu %8dx%-4d %10.1f %9.3f %8.3f %10.4f %10s\n", inter_kinds[row->kind].name,
            row->size, row->blocks, row->threads, f->us, INTER_BATCH / f->us,
            (double)row->size * INTER_BATCH / f->us / 1e3, f->counted.waits,
            ratio(text, sizeof text, f, beside(f, INTER_ORDER_NONE)));
}

static void print_order_claims(FILE *to, const struct figure *f)
{
    static const struct {
        const char *what, *expected;
        enum inter_what a, b;
    } claims[] = {
        {"a fence per put against one per batch", ">= 10", INTER_ORDER_FENCE_EACH, INTER_ORDER_FENCE},
        {"put_signal against no order", "<= 1.10", INTER_ORDER_PUT_SIGNAL, INTER_ORDER_NONE},
        {"counted puts against a quiet and a signal", "<= 1.05", INTER_ORDER_COUNTED, INTER_ORDER_QUIET},
        {"a quiet per put against a fence per put", "-", INTER_ORDER_QUIET_EACH, INTER_ORDER_FENCE_EACH},
        {"a quiet per put against put_signal", "-", INTER_ORDER_QUIET_EACH, INTER_ORDER_PUT_SIGNAL},
    };

    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        const struct figure *b = beside(f, claims[i].b);
        char text[32];

        if (inter_what(&f->row) == claims[i].a && b)
            fprintf(to, "# %-40s %-7s %7zu %7d %8s %s\n", claims[i].what, memory(f), f->row.size,
                    f->row.threads, ratio(text, sizeof text, f, b), claims[i].expected);
    }
}

static void print_orders(FILE *to)
{
    fprintf(to, "#\n# %-26s %7s %13s %10s %9s %8s %10s %10s\n", "order of 1024 puts", "bytes", "grid",
            "us/batch", "Mput/s", "GB/s", "waits/put", "time/none");
    for (int i = 0; i < n_figures; i++)
        if (inter_group(&figures[i].row) == INTER_ORDERS)
            print_order(to, &figures[i]);
    fprintf(to, "#\n# %-40s %-7s %7s %7s %8s %s\n", "claim", "memory", "bytes", "threads", "ratio",
            "expected");
    for (int i = 0; i < n_figures; i++)
        if (inter_group(&figures[i].row) == INTER_ORDERS)
            print_order_claims(to, &figures[i]);
}

/* Of host rows nobody counts the waits. */
static void print_put(FILE *to, const struct figure *blocking)
{
    const struct dev_row *row = &blocking->row;
    const struct figure *nbi = beside(blocking, INTER_PUT_NBI);
    double puts = (double)inter_window(row->size), us = nbi ? nbi->us : 0;
    char text[32], waits[32] = "-";

    if (!nbi)
        return;
    if (blocking->counted.waits >= 0)
        snprintf(waits, sizeof waits, "%.3f/%.3f", blocking->counted.waits, nbi->counted.waits);
    fprintf(to, "# %-8s %-8s %8zu %6.0f %11.3f %11.3f %9.3f %9.3f %10s %12s\n", dev_scope_names[row->scope],
            memory(blocking), row->size, puts, blocking->us / puts, us / puts,
            (double)row->size * puts / blocking->us / 1e3, (double)row->size * puts / us / 1e3,
            ratio(text, sizeof text, blocking, nbi), waits);
}

static void print_puts(FILE *to)
{
    fprintf(to, "#\n# %-8s %-8s %8s %6s %11s %11s %9s %9s %10s %12s\n", "puts by", "memory", "bytes",
            "window", "blocking us", "nbi us", "b. GB/s", "nbi GB/s", "b./nbi", "waits/put");
    for (int i = 0; i < n_figures; i++)
        if (inter_what(&figures[i].row) == INTER_PUT_BLOCKING)
            print_put(to, &figures[i]);
}

/* The first row of posts of this kind. */
static const struct figure *post_figure(enum inter_what what)
{
    for (int i = 0; i < n_figures; i++)
        if (inter_what(&figures[i].row) == what)
            return &figures[i];
    return NULL;
}

static void print_post(FILE *to, const struct figure *f)
{
    const struct dev_row *row = &f->row;
    char text[32];

    fprintf(to, "# %-26s %-7s %8zu %9.3f %9.0f %9.0f %7.2f %9.0f %10s\n", inter_kinds[row->kind].name,
            dev_scope_names[row->scope], row->size, f->us, f->counted.moved, f->counted.copied,
            f->counted.operations, f->counted.network,
            ratio(text, sizeof text, f, post_figure(INTER_POST_BARE)));
}

static void print_posts(FILE *to)
{
    fprintf(to, "#\n# %-26s %-7s %8s %9s %9s %9s %7s %9s %10s\n", "posting a put", "scope", "bytes", "us",
            "moved", "copied", "net ops", "net bytes", "time/bare");
    for (int i = 0; i < n_figures; i++)
        if (inter_group(&figures[i].row) == INTER_POSTS)
            print_post(to, &figures[i]);
}

/* Ways of an alltoall, in the order of the table's columns. */
static const struct method {
    const char *head, *name;
    int kind;
    enum dev_scope scope;
} methods[] = {
    {"k.put", "put and quiet in a kernel", INTER_KIND(INTER_ALLTOALL_PUT, 0), DEV_BLOCK},
    {"k.put_sig", "put_signal_nbi in a kernel", INTER_KIND(INTER_ALLTOALL_PUT_SIGNAL, 0), DEV_BLOCK},
    {"h.alltoall", "the host's alltoall", INTER_KIND(INTER_ALLTOALL, 0), DEV_HOST},
    {"k.put/host", "put and quiet in a kernel", INTER_KIND(INTER_ALLTOALL_PUT, 1), DEV_BLOCK},
    {"k.psig/host", "put_signal_nbi in a kernel", INTER_KIND(INTER_ALLTOALL_PUT_SIGNAL, 1), DEV_BLOCK},
    {"h.psig/host", "the host's put_signal", INTER_KIND(INTER_ALLTOALL_PUT_SIGNAL, 1), DEV_HOST},
    {"h.a2a/host", "the host's alltoall", INTER_KIND(INTER_ALLTOALL, 1), DEV_HOST},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* Of a method, at some size, whatever the block's threads. */
static const struct figure *method_figure(const struct method *method, size_t size)
{
    for (int i = 0; i < n_figures; i++) {
        const struct dev_row *row = &figures[i].row;

        if (row->kind == method->kind && row->scope == method->scope && row->size == size)
            return &figures[i];
    }
    return NULL;
}

/* The sizes of alltoalls, ascending: the next after `size`; 0: none. */
static size_t next_size(size_t size)
{
    size_t next = 0;

    for (int i = 0; i < n_figures; i++) {
        size_t here = figures[i].row.size;

        if (inter_group(&figures[i].row) == INTER_ALLTOALLS && here > size && (!next || here < next))
            next = here;
    }
    return next;
}

/* The method's name and memory. */
static const char *described(char *text, size_t size, const struct method *method)
{
    snprintf(text, size, "%s (%s memory)", method->name, method->kind % 2 ? "host" : "device");
    return text;
}

/* 1: `a` is ahead of `b` at the size; 0: it is not; -1: one of them is missing. */
static int is_ahead(const struct method *a, const struct method *b, size_t size)
{
    const struct figure *x = method_figure(a, size), *y = method_figure(b, size);

    return x && y ? x->us < y->us : -1;
}

/* From which size on `a` is ahead of `b`; or at which sizes, where not up to the largest. */
static void print_ahead(FILE *to, const struct method *a, const struct method *b)
{
    size_t from = 0;
    int compared = 0, ahead = 0;
    char x[64], y[64];

    for (size_t size = next_size(0); size; size = next_size(size)) {
        int now = is_ahead(a, b, size);

        compared += now >= 0;
        ahead += now > 0;
        from = !now ? 0 : from || now < 0 ? from : size;
    }
    if (!compared)
        return;
    fprintf(to, "# %s against %s: ", described(x, sizeof x, a), described(y, sizeof y, b));
    if (from)
        fprintf(to, "ahead from %zu bytes a PE on\n", from);
    else
        fprintf(to, ahead ? "ahead at" : "at no size ahead");
    for (size_t size = next_size(0); size && !from; size = next_size(size))
        if (is_ahead(a, b, size) > 0)
            fprintf(to, " %zu", size);
    if (!from)
        fprintf(to, ahead ? " bytes a PE\n" : "\n");
}

static void print_alltoalls(FILE *to)
{
    fprintf(to, "#\n# %-14s", "alltoall us");
    for (int w = 0; w < METHODS; w++)
        fprintf(to, " %11s", methods[w].head);
    for (size_t size = next_size(0); size; size = next_size(size)) {
        fprintf(to, "\n# %-14zu", size);
        for (int w = 0; w < METHODS; w++) {
            const struct figure *f = method_figure(&methods[w], size);

            if (f)
                fprintf(to, " %11.2f", f->us);
            else
                fprintf(to, " %11s", "-");
        }
    }
    fprintf(
        to,
        "\n# k.: called in a kernel; h.: by the host; …/host: to host memory, otherwise to device memory\n");
    print_ahead(to, &methods[1], &methods[0]);
    print_ahead(to, &methods[1], &methods[2]);
    print_ahead(to, &methods[4], &methods[5]);
    print_ahead(to, &methods[4], &methods[6]);
}

static void print_waits(FILE *to)
{
    fprintf(to, "#\n# %-20s %-8s %8s %12s %12s %10s\n", "wait", "memory", "bytes", "wait_until", "polling",
            "poll/wait");
    for (int i = 0; i < n_figures; i++) {
        const struct figure *f = &figures[i];
        bool loads = inter_what(&f->row) == INTER_LOAD_WAIT_UNTIL;
        const struct figure *polls = beside(f, loads ? INTER_LOAD_POLL_FETCH : INTER_POLL_FETCH);
        double bytes = (double)f->row.size;
        char text[32];

        if ((!loads && inter_what(&f->row) != INTER_WAIT_UNTIL) || !polls)
            continue;
        fprintf(to, "# %-20s %-8s %8zu %12.3f %12.3f %10s\n",
                loads ? "GB/s read beside it" : "us, round trip", memory(f), f->row.size,
                loads ? bytes / f->us / 1e3 : f->us, loads ? bytes / polls->us / 1e3 : polls->us,
                ratio(text, sizeof text, polls, f));
    }
}

void inter_claims_print(FILE *to)
{
    if (any(INTER_ORDERS))
        print_orders(to);
    if (any(INTER_PUTS))
        print_puts(to);
    if (any(INTER_POSTS))
        print_posts(to);
    if (any(INTER_ALLTOALLS))
        print_alltoalls(to);
    if (any(INTER_WAITS) || any(INTER_LOADS))
        print_waits(to);
    fflush(to);
}
