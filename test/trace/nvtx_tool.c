/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool that looks at NVTX ranges, as Nsight Systems does: prints each range of a domain when it begins and ends. */
#include <nvtx3/nvToolsExt.h>

#include <stdio.h>

static nvtxDomainHandle_t domain_create(const char *name)
{
    static int made;

    printf("domain %s\n", name);
    return (nvtxDomainHandle_t)(void *)&made;
}

static int range_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range)
{
    printf("begin %s\n", domain ? range->message.ascii : "without domain");
    return 0;
}

static int range_pop(nvtxDomainHandle_t domain)
{
    printf("end\n");
    return domain ? 0 : -1;
}

/* The name is NVTX's, which calls it from the library that NVTX_INJECTION64_PATH names. */
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_get);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_get)
{
    const NvtxExportTableCallbacks *callbacks = table_get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned size;

    setvbuf(stdout, NULL, _IOLBF, 0); /* a PE may end without what is left in the buffer */
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)domain_create;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)range_push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)range_pop;
    return 1;
}
