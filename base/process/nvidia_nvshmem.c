/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks which loaded objects have bound routines to NVIDIA's libnvshmem_host. That it is loaded says nothing: torch
 * loads it in each process. Objects that bind its entries for device code (nvshmemid_) were linked with NVIDIA's
 * library for kernels, and mean that one.
 */
#define _GNU_SOURCE
#include "base/process/nvidia_nvshmem.h"

#include "base/log.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NAME "libnvshmem_host.so"
#define ROUTINE "nvshmem"
#define OF_DEVICE_CODE "nvshmemid_"

/* Ours has a symbol that says so. */
static bool is_ours(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    bool found = library && dlsym(library, "nvshmemx_is_warpshmem");

    if (library)
        dlclose(library);
    return found;
}

/* NVIDIA's library, and an object whose routines have been found there. */
struct search {
    int skip; /* as many of the name come before it */
    char path[4096];
    uintptr_t begin, end; /* where it is loaded */
    char user[4096], routine[128];
};

static void range_of(const struct dl_phdr_info *info, uintptr_t *begin, uintptr_t *end)
{
    *begin = UINTPTR_MAX;
    *end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        *begin = at < *begin ? at : *begin;
        *end = at + info->dlpi_phdr[i].p_memsz > *end ? at + info->dlpi_phdr[i].p_memsz : *end;
    }
}

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *name = strrchr(info->dlpi_name, '/');
    struct search *search = arg;

    (void)size;
    if (!name || strncmp(name + 1, NAME, strlen(NAME)) || search->skip-- > 0)
        return 0;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name);
    range_of(info, &search->begin, &search->end);
    return 1;
}

/* The tables of an object that say what it has bound. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relas[2];
    size_t n_relas[2];
    bool needs; /* a library of the name */
};

/* Some C libraries leave addresses in the dynamic section as they are in the file. */
static const void *at(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return (const void *)(address < info->dlpi_addr ? info->dlpi_addr + address : address);
}

static void read_entry(const struct dl_phdr_info *info, const ElfW(Dyn) * entry, struct tables *tables)
{
    switch (entry->d_tag) {
    case DT_SYMTAB: tables->symbols = at(info, entry->d_un.d_ptr); break;
    case DT_STRTAB: tables->strings = at(info, entry->d_un.d_ptr); break;
    case DT_JMPREL: tables->relas[0] = at(info, entry->d_un.d_ptr); break;
    case DT_PLTRELSZ: tables->n_relas[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
    case DT_RELA: tables->relas[1] = at(info, entry->d_un.d_ptr); break;
    case DT_RELASZ: tables->n_relas[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
    default: break;
    }
}

static struct tables tables_of(const struct dl_phdr_info *info)
{
    struct tables tables = {0};
    const ElfW(Dyn) *first = NULL;

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            first = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *entry = first; entry && entry->d_tag != DT_NULL; entry++)
        read_entry(info, entry, &tables);
    for (const ElfW(Dyn) *entry = first; tables.strings && entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && !strncmp(tables.strings + entry->d_un.d_val, NAME, strlen(NAME)))
            tables.needs = true;
    return tables;
}

/* Does a routine that this object calls lie in the library? What is not bound yet leads to the object itself. */
static int find_user(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct tables tables = tables_of(info);
    const char *bound = NULL;
    struct search *search = arg;

    (void)size;
    if (!tables.needs || !tables.symbols)
        return 0;
    for (int table = 0; table < 2; table++)
        for (size_t i = 0; tables.relas[table] && i < tables.n_relas[table]; i++) {
            const ElfW(Rela) *rela = &tables.relas[table][i];
            const char *name = tables.strings + tables.symbols[rela->r_info >> 32].st_name;
            uintptr_t to;

            if (!(rela->r_info >> 32) || strncmp(name, ROUTINE, strlen(ROUTINE)))
                continue;
            memcpy(&to, (const void *)(info->dlpi_addr + rela->r_offset), sizeof to);
            if (to < search->begin || to >= search->end)
                continue;
            if (!strncmp(name, OF_DEVICE_CODE, strlen(OF_DEVICE_CODE)))
                return 0;
            bound = name;
        }
    if (!bound)
        return 0;
    snprintf(search->user, sizeof search->user, "%s", *info->dlpi_name ? info->dlpi_name : "this program");
    snprintf(search->routine, sizeof search->routine, "%s", bound);
    return 1;
}

/* The loader's lock is held in the callbacks, where dlopen so could wait for a thread that waits for it. */
void wsh_foreign_note(bool warn)
{
    for (int i = 0;; i++) {
        struct search search = {.skip = i};

        if (!dl_iterate_phdr(search_object, &search))
            return;
        if (is_ours(search.path))
            continue;
        if (!dl_iterate_phdr(find_user, &search))
            wsh_info(WSH_SUB_INIT,
                     "NVIDIA's %s is loaded in this process, and nothing has bound a routine to it",
                     search.path);
        else if (warn)
            wsh_warn(
                "%s calls %s of NVIDIA's %s, which knows nothing of this job; load warpshmem's before it "
                "(LD_PRELOAD, or dlopen by its path)",
                search.user, search.routine, search.path);
    }
}
