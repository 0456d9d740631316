/* SPDX-License-Identifier: BSD-3-Clause */
/* NVSHMEM's types, in its sizes and layouts, and their initializers. */
#ifndef WSH_NV_TYPES_H
#define WSH_NV_TYPES_H

#include "../bootstrap_device_host/nvshmem_uniqueid.h"
#include "../device_host_transport/nvshmem_common_transport.h"
#include "../device_host_transport/nvshmem_constants.h"
#include "../non_abi/nvshmemx_error.h"

/* A number of a team: SHMEMX_TEAM makes our handle of it. */
typedef int32_t nvshmem_team_t;
typedef nvshmem_team_t nvshmemx_team_t;
typedef uint64_t nvshmemx_team_uniqueid_t;

/* Enumerators, as in NVSHMEM: programs define macros of similar names. */
enum {
    NVSHMEM_TEAM_INVALID = -1,
    NVSHMEM_TEAM_WORLD = 0,
    NVSHMEM_TEAM_WORLD_INDEX = 0,
    NVSHMEM_TEAM_SHARED = 1,
    NVSHMEM_TEAM_SHARED_INDEX = 1,
    NVSHMEMX_TEAM_NODE = 2,
    NVSHMEM_TEAM_NODE_INDEX = 2,
    NVSHMEMX_TEAM_SAME_MYPE_NODE = 3,
    NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX = 3
};

/* A queue of device code (nvshmemx_qp_create). */
typedef int nvshmemx_qp_handle_t;

typedef struct {
    int version;
    int num_contexts;
    nvshmemx_team_uniqueid_t uniqueid;
    char padding[48];
} nvshmem_team_config_v2;

typedef struct {
    int version;
    int num_contexts;
    char padding[56];
} nvshmem_team_config_v1;

typedef nvshmem_team_config_v2 nvshmem_team_config_t;

typedef struct {
    int version;
    nvshmemx_uniqueid_args_t uid_args;
    int cuda_device_id;
    char content[92];
} nvshmemx_init_args_v2;

typedef struct {
    int version;
    nvshmemx_uniqueid_args_t uid_args;
    char content[96];
} nvshmemx_init_args_v1;

typedef nvshmemx_init_args_v2 nvshmemx_init_args_t;

typedef struct {
    int version;
    void *mpi_comm; /* address of an MPI_Comm */
    nvshmemx_init_args_t args;
} nvshmemx_init_attr_v2;

typedef nvshmemx_init_attr_v2 nvshmemx_init_attr_v1;
typedef nvshmemx_init_attr_v2 nvshmemx_init_attr_t;

#if defined __cplusplus
static_assert(sizeof(nvshmemx_uniqueid_t) == 128 && sizeof(nvshmemx_init_args_t) == 128 &&
                  sizeof(nvshmemx_init_attr_t) == 144 && sizeof(nvshmem_team_config_t) == 64,
              "programs that NVSHMEM's headers compiled pass these by address");
#endif

/* A struct's version word: its number, and its bytes. */
#define WSH_NV_VERSION(number, type) (int)(((number) << 16) + sizeof(type))

#define NVSHMEM_INIT_ATTR_VER 1
#define NVSHMEM_INIT_ARGS_V2_IDENTIFIER WSH_NV_VERSION(2, nvshmemx_init_args_t)
#define NVSHMEM_INIT_ATTR_V1_IDENTIFIER WSH_NV_VERSION(1, nvshmemx_init_attr_t)
#define NVSHMEM_INIT_ATTR_V2_IDENTIFIER WSH_NV_VERSION(2, nvshmemx_init_attr_t)
#define NVSHMEMX_INIT_ARGS_V2_INITIALIZER                                        \
    {                                                                            \
        NVSHMEM_INIT_ARGS_V2_IDENTIFIER, NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, -1, \
        {                                                                        \
            0                                                                    \
        }                                                                        \
    }
#define NVSHMEMX_INIT_ARGS_INITIALIZER                                                   \
    {                                                                                    \
        WSH_NV_VERSION(1, nvshmemx_init_args_t), NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, -1, \
        {                                                                                \
            0                                                                            \
        }                                                                                \
    }
#define NVSHMEMX_INIT_ATTR_INITIALIZER                                           \
    {                                                                            \
        NVSHMEM_INIT_ATTR_V2_IDENTIFIER, NULL, NVSHMEMX_INIT_ARGS_V2_INITIALIZER \
    }
#define NVSHMEMX_INIT_ATTR_V1_INITIALIZER                                     \
    {                                                                         \
        NVSHMEM_INIT_ATTR_V1_IDENTIFIER, NULL, NVSHMEMX_INIT_ARGS_INITIALIZER \
    }
#define nvshmemx_init_init_attr_ver_only(attr)                                      \
    do {                                                                            \
        (attr).version = NVSHMEM_INIT_ATTR_V1_IDENTIFIER;                           \
        (attr).args.version = WSH_NV_VERSION(1, nvshmemx_init_args_t);              \
        (attr).args.uid_args.version = WSH_NV_VERSION(1, nvshmemx_uniqueid_args_t); \
    } while (0)

#define NVSHMEM_TEAM_UNIQUID_INITIALIZER 0xffffffffffffffff
#define NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS 1L
#define NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID 2L
#define NVSHMEM_TEAM_CONFIG_INITIALIZER                                                 \
    {                                                                                   \
        WSH_NV_VERSION(2, nvshmem_team_config_t), -1, NVSHMEM_TEAM_UNIQUID_INITIALIZER, \
        {                                                                               \
            0                                                                           \
        }                                                                               \
    }
#define NVSHMEMI_TEAM_CONFIG_INITIALIZER NVSHMEM_TEAM_CONFIG_INITIALIZER

/* How much shared memory a program offers for copies (nvshmemx_ask_smem), and regions of batched puts. */
typedef enum {
    NVSHMEMX_TMA_DISABLE = 0,
    NVSHMEMX_TMA_ENABLE = 1,
    NVSHMEMX_TMA_FORCE = 2,
    NVSHMEMX_TMA_POLICY_MAX = INT_MAX
} nvshmemx_tma_policy_t;

typedef enum nvshmemx_smem_amount_t {
    NVSHMEMX_SMEM_RECOMMENDED = 0,
    NVSHMEMX_SMEM_MINIMUM = 1,
    NVSHMEMX_SMEM_BARRIERS_ONLY = 2,
    NVSHMEMX_SMEM_AMOUNT_MAX = INT_MAX
} nvshmemx_smem_amount_t;

typedef uint64_t nvshmemx_region_handle_t;
typedef enum { NVSHMEMX_REGION_HINT_NONE = 0, NVSHMEMX_REGION_HINT_BATCH_RMA = 1 } nvshmemx_region_hint_t;
typedef struct nvshmemx_region_attrs {
    uint32_t hints;
    char reserved[60];
} nvshmemx_region_attrs_t;
#define NVSHMEMX_REGION_ATTRS_RESERVED_BYTES 60
#define NVSHMEMX_REGION_ATTRS_INITIALIZER \
    {                                     \
        NVSHMEMX_REGION_HINT_NONE,        \
        {                                 \
            0                             \
        }                                 \
    }

#endif
