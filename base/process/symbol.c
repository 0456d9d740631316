/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks names up in the symbols of ELF files; most are not in those that the loader keeps. */
#define _GNU_SOURCE
#include "base/process/symbol.h"

#include "base/process/text.h"

#include <fcntl.h>
#include <link.h>
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

/* A symbol's name, if it ends inside of the file. */
static const char *name_of(const struct image *image, const ElfW(Shdr) * names, const ElfW(Sym) * symbol)
{
    const char *name = image_at(image, names->sh_offset + symbol->st_name, 1);

    return name && memchr(name, '\0', image->len - (size_t)(name - image->bytes)) ? name : NULL;
}

static void find_in(const struct image *image, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                    uintptr_t at, char *text, size_t size)
{
    const ElfW(Sym) *symbols = image_at(image, table->sh_offset, table->sh_size);

    for (size_t i = 0; symbols && i < table->sh_size / sizeof *symbols; i++) {
        const ElfW(Sym) *symbol = &symbols[i];
        uintptr_t off = at - symbol->st_value;
        const char *name;

        if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || off >= symbol->st_size)
            continue;
        name = name_of(image, names, symbol);
        if (!name)
            continue;
        if (off)
            snprintf(text, size, " (%s + %zu bytes)", name, (size_t)off);
        else
            snprintf(text, size, " (%s)", name);
        return;
    }
}

/* Calls `use` for each table of symbols until it says that it has found what it looks for. */
static void tables_walk(const struct image *image,
                        bool (*use)(const struct image *image, const ElfW(Shdr) * table,
                                    const ElfW(Shdr) * names, void *arg),
                        void *arg)
{
    const ElfW(Ehdr) *head = image_at(image, 0, sizeof *head);
    const ElfW(Shdr) * sections;

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_shentsize != sizeof *sections)
        return;
    sections = image_at(image, head->e_shoff, (size_t)head->e_shnum * sizeof *sections);
    for (size_t i = 0; sections && i < head->e_shnum; i++) {
        const ElfW(Shdr) *table = &sections[i];

        if ((table->sh_type == SHT_SYMTAB || table->sh_type == SHT_DYNSYM) &&
            table->sh_link < head->e_shnum && use(image, table, &sections[table->sh_link], arg))
            return;
    }
}

struct variable {
    uintptr_t at;
    char *text;
    size_t size;
};

static bool variable_find(const struct image *image, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                          void *arg)
{
    const struct variable *variable = arg;

    find_in(image, table, names, variable->at, variable->text, variable->size);
    return *variable->text;
}

static bool image_map(const char *file, struct image *image)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat st;

    *image = (struct image){MAP_FAILED, 0};
    if (fd < 0)
        return false;
    if (!fstat(fd, &st)) {
        image->len = (size_t)st.st_size;
        image->bytes = mmap(NULL, image->len, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    return image->bytes != MAP_FAILED;
}

void wsh_symbol_name(const void *addr, char *text, size_t size)
{
    struct variable variable = {0, text, size};
    struct image image;
    uintptr_t bias = 0;

    *text = '\0';
    if (!image_map("/proc/self/exe", &image))
        return;
    dl_iterate_phdr(take_bias, &bias);
    variable.at = (uintptr_t)addr - bias;
    tables_walk(&image, variable_find, &variable);
    munmap((void *)image.bytes, image.len);
}

/* Of several names of one routine the public one: shmem_x before pshmem_x. */
static bool routine_find(const struct image *image, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                         void *arg)
{
    const ElfW(Sym) *symbols = image_at(image, table->sh_offset, table->sh_size);
    struct wsh_symbol *found = arg;

    for (size_t i = 0; symbols && i < table->sh_size / sizeof *symbols; i++) {
        const ElfW(Sym) *symbol = &symbols[i];
        uint64_t within = found->address - symbol->st_value;
        const char *name;

        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
            within >= symbol->st_size)
            continue;
        name = name_of(image, names, symbol);
        if (!name || (*found->name && strncmp(name, "shmem", 5)))
            continue;
        wsh_text_set(found->name, sizeof found->name, name, strlen(name));
        found->within = within;
    }
    return *found->name;
}

/* The address that the linker gave to what lies at `off` of the file; false where that is not loaded. */
static bool address_of(const struct image *image, uint64_t off, uint64_t *address)
{
    const ElfW(Ehdr) *head = image_at(image, 0, sizeof *head);
    const ElfW(Phdr) * segment;

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phentsize != sizeof *segment)
        return false;
    segment = image_at(image, head->e_phoff, (size_t)head->e_phnum * sizeof *segment);
    for (size_t i = 0; segment && i < head->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && off - segment[i].p_offset < segment[i].p_filesz) {
            *address = off - segment[i].p_offset + segment[i].p_vaddr;
            return true;
        }
    return false;
}

bool wsh_symbol_at(const char *file, uint64_t off, struct wsh_symbol *symbol)
{
    struct image image;
    bool there;

    *symbol = (struct wsh_symbol){0};
    if (!image_map(file, &image))
        return false;
    there = address_of(&image, off, &symbol->address);
    if (there)
        tables_walk(&image, routine_find, symbol);
    munmap((void *)image.bytes, image.len);
    return there;
}
