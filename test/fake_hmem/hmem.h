/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets an ordinary libfabric provider take device memory, that of test/fake_cuda: it is asked without
 * FI_HMEM, and works on the addresses at which the GPU's threads see the memory. What a real one would refuse ends the
 * process with a line: device memory that is injected, not registered as such, or sent in a message. Settings:
 *   FAKE_HMEM        none = FI_HMEM is refused, cuda = it needs calls of CUDA, memory = registrations are refused,
 *                    dmabuf = as libfabric 1.20, and device memory is registered by descriptors only,
 *                    gpu = no CPU may touch the memory, be the GPU there or fake: the emulated EFA device copies
 *                    it, and a provider whose CPU does ends the process as a skipped test
 *   FAKE_HMEM_SAY    1 = says at the end how many writes and reads touched device memory
 */
#ifndef WSH_TEST_FAKE_HMEM_H
#define WSH_TEST_FAKE_HMEM_H

#include <rdma/fabric.h>

/* The real library's. */
struct fake_hmem_lib {
    uint32_t version;
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
};

/* From here on those below stand for the library's own. */
void fake_hmem_open(const struct fake_hmem_lib *lib);
int fake_hmem_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                      const struct fi_info *hints, struct fi_info **info);
uint32_t fake_hmem_version(void);
int fake_hmem_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);

#endif
