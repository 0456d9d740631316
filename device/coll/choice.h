/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sizes at which collectives in device code change their algorithm, a row each: WSH_DEVICE_CHOICE is how the code
 * that decides reads a row, and warpshmem-info --collectives prints them. For kernels and the host; includes nothing.
 */
#ifndef WSH_DEVICE_CHOICE_H
#define WSH_DEVICE_CHOICE_H

/*
 * ROW(routine, by whom, algorithm, bytes, of what, why): up to so many bytes this algorithm, in the order of the rows;
 * REST(routine, by whom, algorithm, why): for what is longer. Routines: MOVE is alltoall, fcollect and collect,
 * COMBINE reduce, reducescatter and scan. By whom: the scope of a call; STREAM chooses a kernel's blocks, KERNEL is
 * several of them together; ANY is each. Of what: EACH member's block, a SLICE of it times the other members, or what
 * goes to ALL other members together. The algorithms' words are those of runtime/coll/choose/choice.h. LL lines serve
 * as far as the team's memory holds them.
 */
/* clang-format off */
#define WSH_DEVICE_CHOICES(ROW, REST)                                                                               \
    ROW(MOVE, THREAD, LL, 32, EACH, "device/collectives")                                                        \
    ROW(MOVE, WARP, LL, 512, EACH, "device/collectives")                                                         \
    ROW(MOVE, BLOCK, LL, 4096, EACH, "device/collectives")                                                       \
    REST(MOVE, ANY, PUSH, "straight into dest")                                                                     \
    ROW(BROADCAST, THREAD, LL, 32, EACH, "device/collectives")                                                   \
    ROW(BROADCAST, WARP, LL, 512, EACH, "device/collectives")                                                    \
    ROW(BROADCAST, BLOCK, LL, 8192, EACH, "device/collectives: else members meet, read and meet again")          \
    ROW(BROADCAST, THREAD, PUSH, 8192, ALL, "device/collectives, H200")                                             \
    ROW(BROADCAST, WARP, PUSH, 8192, ALL, "device/collectives, H200")                                               \
    ROW(BROADCAST, BLOCK, PUSH, 131072, ALL, "device/collectives, H200")                                            \
    ROW(BROADCAST, ANY, PULL, 524287, EACH, "device/collectives, 4 PEs: beyond, the root's link limits")            \
    REST(BROADCAST, ANY, RELAY, "the root sends its array once; arrays that differ in alignment: pull")             \
    REST(BROADCAST_TWO, THREAD, PUSH, "at any size")                                                                \
    REST(BROADCAST_TWO, WARP, PUSH, "at any size")                                                                  \
    ROW(BROADCAST_TWO, BLOCK, PUSH, 131072, EACH, "device/collectives, H200")                                       \
    REST(BROADCAST_TWO, ANY, HALVES, "both links are used")                                                         \
    ROW(COMBINE, THREAD, LL, 32, EACH, "device/collectives")                                                     \
    ROW(COMBINE, WARP, LL, 512, EACH, "device/collectives")                                                      \
    ROW(COMBINE, BLOCK, LL, 16384, EACH, "device/collectives")                                                   \
    REST(COMBINE, ANY, SLICES, "each byte is read once")                                                            \
    ROW(REDUCE_HOSTS, ANY, WHOLE, 8192, EACH, "sim/runs/thresholds.txt, by its messages")                  \
    REST(REDUCE_HOSTS, ANY, SLICES, "fewest bytes")                                                                 \
    ROW(EVERY, STREAM, BLOCK, 4096, EACH, "by its LL lines alone; a sum of 16 KiB takes 1.7 times as long")         \
    ROW(EVERY, STREAM, FINE, 524288, EACH, "a thread for each cell; alltoall and fcollect: of all blocks together") \
    REST(EVERY, STREAM, TILES, "a block reaches 45 GB/s, 32 of them what NVLink carries (H200)")                    \
    ROW(MOVE, KERNEL, LL, 262144, ALL, "device/collectives, H200: beyond, flags take longer than to meet")       \
    REST(MOVE, KERNEL, PUSH, "straight into dest")                                                                  \
    ROW(BROADCAST, KERNEL, LL, 262144, ALL, "device/collectives, H200")                                          \
    ROW(BROADCAST, KERNEL, PUSH, 3145728, ALL, "sooner than the others ask for it and read; beyond, as a block")    \
    ROW(REDUCE, KERNEL, LL, 262144, ALL, "device/collectives, H200")                                             \
    ROW(REDUCE, KERNEL, SLICED, 262144, SLICE, "device/collectives, H200")                                          \
    REST(REDUCE, KERNEL, SLICES, "each byte is read once")                                                          \
    ROW(SCATTER, KERNEL, LL, 786432, ALL, "device/collectives, H200")                                            \
    REST(SCATTER, KERNEL, SLICES, "each byte is read once")                                                         \
    REST(SCAN, KERNEL, SLICES, "each byte is read once")
/* clang-format on */

#define WSH_DEVICE_ROW(ROUTINE, WHO, ALGO, LEN, OF, WHY) wsh_device_##ROUTINE##_##WHO##_##ALGO = (LEN),
#define WSH_DEVICE_REST(ROUTINE, WHO, ALGO, WHY)
enum wsh_device_choice { WSH_DEVICE_CHOICES(WSH_DEVICE_ROW, WSH_DEVICE_REST) };
#undef WSH_DEVICE_ROW
#undef WSH_DEVICE_REST

/* The bytes of that row; a constant. There is none where the row is not. */
#define WSH_DEVICE_CHOICE(ROUTINE, WHO, ALGO) ((unsigned)wsh_device_##ROUTINE##_##WHO##_##ALGO)

#endif
