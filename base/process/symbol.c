/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks a variable up in the symbols of the executable's ELF file; most are not in those that the loader keeps. */
#define _GNU_SOURCE
#include "base/process/symbol.h"

#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const char *bytes;
    size_t len;
};

/* Where [off, off + len) of the file lies, NULL where the file is shorter. */
static const void *image_at(const struct image *image, size_t off, size_t len)
{
    return off <= image->len && len <= image->len - off ? image->bytes + off : NULL;
}

/* The executable is the first; 1 ends the walk. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uintptr_t *)bias = info->dlpi_addr;
    return 1;
}

static void find_in(const struct image *image, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                    uintptr_t at, char *text, size_t size)
{
    const ElfW(Sym) *symbols = image_at(image, table->sh_offset, table->sh_size);

    for (size_t i = 0; symbols && i < table->sh_size / sizeof *symbols; i++) {
        const ElfW(Sym) *symbol = &symbols[i];
        uintptr_t off = at - symbol->st_value;
        const char *name = image_at(image, names->sh_offset + symbol->st_name, 1);

        if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || off >= symbol->st_size || !name)
            continue;
        if (!memchr(name, '\0', image->len - (size_t)(name - image->bytes)))
            continue;
        if (off)
            snprintf(text, size, " (%s + %zu bytes)", name, (size_t)off);
        else
            snprintf(text, size, " (%s)", name);
        return;
    }
}

static void find(const struct image *image, uintptr_t at, char *text, size_t size)
{
    const ElfW(Ehdr) *head = image_at(image, 0, sizeof *head);
    const ElfW(Shdr) * sections;

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_shentsize != sizeof *sections)
        return;
    sections = image_at(image, head->e_shoff, (size_t)head->e_shnum * sizeof *sections);
    for (size_t i = 0; sections && i < head->e_shnum && !*text; i++) {
        const ElfW(Shdr) *table = &sections[i];

        if ((table->sh_type == SHT_SYMTAB || table->sh_type == SHT_DYNSYM) && table->sh_link < head->e_shnum)
            find_in(image, table, &sections[table->sh_link], at, text, size);
    }
}

void wsh_symbol_name(const void *addr, char *text, size_t size)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct image image = {MAP_FAILED, 0};
    uintptr_t bias = 0;
    struct stat st;

    *text = '\0';
    if (fd < 0)
        return;
    if (!fstat(fd, &st)) {
        image.len = (size_t)st.st_size;
        image.bytes = mmap(NULL, image.len, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (image.bytes == MAP_FAILED)
        return;
    dl_iterate_phdr(take_bias, &bias);
    find(&image, (uintptr_t)addr - bias, text, size);
    munmap((void *)image.bytes, image.len);
}
