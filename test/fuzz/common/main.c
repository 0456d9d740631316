/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feeds a target its corpus where there is no libFuzzer: the files named, or else those of its folder in
 * test/fuzz/corpus. A file NAME.hex holds hexadecimal digits, with comments from # on.
 */
#define _GNU_SOURCE
#include "test/fuzz/common/fuzz.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WSH_LIBFUZZER

static unsigned fed;

static int digit_value(char digit)
{
    return isdigit((unsigned char)digit) ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

/* In place; the number of bytes. */
static size_t hex_decode(char *text, size_t len)
{
    size_t digits = 0;

    for (size_t i = 0; i < len; i++) {
        while (i < len && text[i] == '#')
            i += strcspn(text + i, "\n");
        if (i < len && isxdigit((unsigned char)text[i])) {
            char *byte = &text[digits / 2];

            *byte =
                (char)(digits % 2 ? (unsigned char)*byte << 4 | digit_value(text[i]) : digit_value(text[i]));
            digits++;
        }
    }
    return digits / 2;
}

/* In memory of exactly its size. */
static void bytes_feed(const char *bytes, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);

    if (!copy)
        abort();
    memcpy(copy, bytes, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
    fed++;
}

static void file_feed(const char *path)
{
    FILE *file = fopen(path, "re");
    const char *dot = strrchr(path, '.');
    char *text = NULL;
    size_t size = 0;
    ssize_t len = file ? getdelim(&text, &size, EOF, file) : -1;

    if (!file) {
        perror(path);
        exit(1);
    }
    printf("%s\n", path);
    fflush(stdout);
    if (len < 0)
        len = 0;
    bytes_feed(text ? text : "", dot && !strcmp(dot, ".hex") ? hex_decode(text, (size_t)len) : (size_t)len);
    free(text);
    fclose(file);
}

static void folder_feed(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        char *path;

        if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
            abort();
        if (entries[i]->d_name[0] != '.')
            file_feed(path);
        free(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    const char *top = getenv("top_srcdir"), *slash = strrchr(argv[0], '/');
    char folder[4096];

    snprintf(folder, sizeof folder, "%s/test/fuzz/corpus/%s", top ? top : ".", slash ? slash + 1 : argv[0]);
    for (int i = 1; i < argc; i++)
        file_feed(argv[i]);
    if (argc < 2)
        folder_feed(folder);
    printf("%u inputs\n", fed);
    return fed ? 0 : 1;
}

#endif
