/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints rows for scripts. */
#include "tools/info_row.h"

#include <stdbool.h>
#include <string.h>

enum { QUOTE = 0x22 };

static struct {
    bool json;
    char kind[32]; /* whose array is open */
} rows;

/* Bytes of the character of UTF-8 there; 0: it is none. */
static size_t character(const char *text, size_t len)
{
    unsigned char first = (unsigned char)*text;
    size_t n = first < 0x80   ? 1
               : first < 0xc2 ? 0
               : first < 0xe0 ? 2
               : first < 0xf0 ? 3
               : first < 0xf5 ? 4
                              : 0;

    if (n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

static void print_string(FILE *out, const char *text, size_t len)
{
    putc(QUOTE, out);
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = character(text + i, len - i);
        if (!n)
            fputs("\\ufffd", out);
        else if (n == 1 && (unsigned char)text[i] < ' ')
            fprintf(out, "\\u%04x", (unsigned)text[i]);
        else
            fprintf(out, "%s%.*s", text[i] == QUOTE || text[i] == '\\' ? "\\" : "", (int)n, text + i);
    }
    putc(QUOTE, out);
}

static void print_list(FILE *out, const char *text)
{
    putc('[', out);
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ",");

        fputs(at == text ? "" : ", ", out);
        print_string(out, at, len);
        at += len + (at[len] == ',');
    }
    putc(']', out);
}

static void print_member(FILE *out, const char *name, const char *value)
{
    char mark = *name;

    name += mark == '#' || mark == '[';
    print_string(out, name, strlen(name));
    fputs(": ", out);
    if (mark == '#')
        fputs(strcmp(value, "-") ? value : "null", out);
    else if (mark == '[')
        print_list(out, value);
    else
        print_string(out, value, strlen(value));
}

/* The end of the array before, and the begin of its own. */
static void array_need(FILE *out, const char *kind)
{
    if (!strcmp(rows.kind, kind)) {
        fputs(",\n    ", out);
        return;
    }
    fprintf(out, "%s\n  \"%s\": [\n    ", *rows.kind ? "\n  ]," : "", kind);
    snprintf(rows.kind, sizeof rows.kind, "%s", kind);
}

void wsh_info_row(FILE *out, const char *kind, size_t n, const char *const names[],
                  const char *const values[])
{
    if (!rows.json) {
        fputs(kind, out);
        for (size_t i = 0; i < n; i++)
            fprintf(out, ":%s", values[i]);
        putc('\n', out);
        return;
    }
    array_need(out, kind);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : "{", out);
        print_member(out, names[i], values[i]);
    }
    putc('}', out);
}

void wsh_info_json_begin(FILE *out)
{
    rows.json = true;
    *rows.kind = '\0';
    putc('{', out);
}

void wsh_info_json_end(FILE *out)
{
    fputs(*rows.kind ? "\n  ]\n}\n" : "}\n", out);
    rows.json = false;
}
