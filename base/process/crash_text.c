/* SPDX-License-Identifier: BSD-3-Clause */
/* Which calls of a crash tell the user most, and the words for them. */
#define _GNU_SOURCE
#include "base/process/crash.h"

#include "base/process/lines.h"
#include "base/process/symbol.h"
#include "base/process/text.h"

#define SHOWN 5

/*
 * A run of calls inside the C library and others that users do not write, or inside this one, is told by its outermost:
 * the routine that was called; and what this library calls is told by its own.
 */
enum owner { PROGRAM, LIBRARY, SYSTEM };

struct call {
    const struct wsh_crash_frame *frame;
    enum owner owner;
    uint64_t within; /* bytes from the begin of the routine */
    bool known;      /* its file has a symbol there */
    struct wsh_line line;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static enum owner owner_of(const char *module, const char *routine)
{
    static const char *const ours[] = {"libwarpshmem", "libnvshmem"}, *const names[] = {"wsh_", "shmem",
                                                                                        "pshmem"};
    static const char *const theirs[] = {"libc.so",    "libc-",    "ld-",       "libm.so",
                                         "libpthread", "libgcc_s", "libfabric", "libefa",
                                         "libibve",    "libpmix",  "libhwloc",  "libcuda"};
    const char *name = base_name(module);

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (begins(name, ours[i]))
            return LIBRARY;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (begins(routine, names[i]))
            return LIBRARY;
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
        if (begins(name, theirs[i]))
            return SYSTEM;
    return *module ? PROGRAM : SYSTEM;
}

static void call_init(struct call *call, const struct wsh_crash_frame *frame)
{
    struct wsh_symbol symbol = {0};

    *call = (struct call){.frame = frame};
    if (*frame->module && wsh_symbol_at(frame->module, frame->off, &symbol)) {
        call->line.address = symbol.address;
        call->within = symbol.within;
        call->known = *symbol.name;
        wsh_text_set(call->line.routine, sizeof call->line.routine, symbol.name, strlen(symbol.name));
    }
    call->owner = owner_of(frame->module, call->line.routine);
}

/* Only the program's calls have lines that the user can change. One run of addr2line for each file. */
static void lines_add(struct call *call, int n)
{
    for (int i = 0; i < n; i++) {
        struct wsh_line line[SHOWN];
        int of[SHOWN], found = 0;

        for (int k = i; k < n; k++)
            if (call[k].owner == PROGRAM && !*call[k].line.place && call[k].line.address &&
                !strcmp(call[k].frame->module, call[i].frame->module)) {
                of[found] = k;
                line[found++] = call[k].line;
            }
        if (!found || call[i].owner != PROGRAM || of[0] != i)
            continue;
        wsh_lines_find(call[i].frame->module, line, found);
        for (int k = 0; k < found; k++) {
            call[of[k]].line = line[k];
            if (!*line[k].place)
                call[of[k]].line.address = 0; /* not asked again */
        }
    }
}

static bool is_told_by(const struct call *inner, const struct call *outer)
{
    return outer->owner != PROGRAM &&
           (inner->owner == outer->owner || (inner->owner == SYSTEM && outer->owner == LIBRARY));
}

static int calls_choose(const struct wsh_crash *crash, struct call *shown)
{
    int n = 0;

    for (int i = 0; i < crash->n; i++) {
        struct call call;

        call_init(&call, &crash->frame[i]);
        if (n && is_told_by(&shown[n - 1], &call))
            n--;
        else if (n && call.owner == PROGRAM && *call.line.routine &&
                 !strcmp(shown[n - 1].line.routine, call.line.routine))
            continue; /* a routine that calls itself */
        if (n == SHOWN)
            break;
        shown[n++] = call;
        if (!strcmp(call.line.routine, "main"))
            break;
    }
    if (n > 1 && shown[n - 1].owner == SYSTEM) /* what has started the thread, or the program */
        n--;
    return n;
}

static void call_print(struct wsh_text *text, const struct call *call)
{
    if (*call->line.routine) {
        wsh_text_add(text, call->line.routine);
        if (call->known && !*call->line.place && call->owner != SYSTEM && call->within &&
            !begins(call->line.routine, "shmem")) {
            wsh_text_add(text, "+");
            wsh_text_add_hex(text, call->within);
        }
        wsh_text_add(text, " (");
        wsh_text_add(text, *call->line.place ? call->line.place : base_name(call->frame->module));
        wsh_text_add(text, ")");
    } else if (*call->frame->module) {
        wsh_text_add(text, base_name(call->frame->module));
        wsh_text_add(text, "+");
        wsh_text_add_hex(text, call->frame->off);
    } else {
        wsh_text_add(text, "code of no file");
    }
}

void wsh_crash_print(const struct wsh_crash *crash, char *text, size_t size)
{
    static struct call shown[SHOWN];
    struct wsh_text out = {text, size, 0};
    int n = calls_choose(crash, shown);

    text[0] = '\0';
    lines_add(shown, n);
    if (crash->has_address) {
        wsh_text_add(&out, "at address ");
        wsh_text_add_hex(&out, crash->address);
        wsh_text_add(&out, " ");
    }
    for (int i = 0; i < n; i++) {
        wsh_text_add(&out, !i ? "in " : i == 1 ? ", called by " : ", ");
        call_print(&out, &shown[i]);
    }
}
