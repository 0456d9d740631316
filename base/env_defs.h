/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * THE table of settings: one row each, nothing else reads the environment.
 *   WSH_ENV(field, kind, "NAME", "default", "aliases", "help")
 * kind: STR (const char *, NULL when empty), BOOL (bool), INT (long), SIZE (size_t bytes, suffixes
 * k m g t and fractions), SECONDS (double), or ENUM(words) with the words separated by '|' (int: index).
 * Aliases are separated by spaces; SMA_<name> is accepted for every SHMEM_<name> without being listed.
 * Rows whose help begins with "internal" are written by oshrun and not shown by default.
 */
WSH_ENV(version, BOOL, "SHMEM_VERSION", "0", "", "print the library version at start")
WSH_ENV(info, BOOL, "SHMEM_INFO", "0", "NVSHMEM_INFO", "print every setting at start")
WSH_ENV(symmetric_size, SIZE, "SHMEM_SYMMETRIC_SIZE", "1G", "NVSHMEM_SYMMETRIC_SIZE SHMEM_SYMMETRIC_HEAP_SIZE",
        "bytes of symmetric heap a PE (reserved at start, committed by shmem_malloc)")
WSH_ENV(device_size, SIZE, "SHMEM_DEVICE_SYMMETRIC_SIZE", "1G", "NVSHMEM_SYMMETRIC_SIZE",
        "bytes of symmetric device memory a PE (allocated by the first call that asks for device memory)")
WSH_ENV(disable_vmm, BOOL, "SHMEM_DISABLE_CUDA_VMM", "0", "NVSHMEM_DISABLE_CUDA_VMM",
        "give device memory to peers by CUDA IPC instead of the driver's virtual memory management")
WSH_ENV(device_pull, BOOL, "SHMEM_DEVICE_PULL", "1", "",
        "kernels that wait carry out what comes from other hosts for device memory; 0: copies by the driver do")
WSH_ENV(debug, STR, "SHMEM_DEBUG", "", "NVSHMEM_DEBUG",
        "what to print: warn, info, trace and subsystems INIT,COLL,P2P,PROXY,TRANSPORT,MEM,BOOTSTRAP,TOPO; "
        "check: look at arguments more closely")
WSH_ENV(debug_file, STR, "SHMEM_DEBUG_FILE", "", "NVSHMEM_DEBUG_FILE",
        "file for info and trace lines; %h = host name, %p = process id")
WSH_ENV(strict, BOOL, "SHMEM_STRICT", "0", "", "make every fallback to something slower an error")
WSH_ENV(bootstrap, ENUM(auto|pmix|single), "SHMEM_BOOTSTRAP", "auto", "NVSHMEM_BOOTSTRAP",
        "how PEs find each other: auto, pmix (oshrun, srun --mpi=pmix, mpirun) or single (one PE)")
WSH_ENV(transports, STR, "SHMEM_TRANSPORTS", "", "",
        "transports that may be used: local,nvlink,efa,relay (empty = all)")
WSH_ENV(transports_static, STR, "SHMEM_TRANSPORTS_STATIC", "", "",
        "the same for static data alone, so that it can travel another way than the heap (empty = SHMEM_TRANSPORTS)")
WSH_ENV(hmem, ENUM(auto|on|off), "SHMEM_HMEM", "auto", "",
        "NICs read and write device memory themselves where libfabric's provider offers it (FI_HMEM): auto (asked "
        "where there is an NVIDIA driver), on (asked everywhere) or off (device memory of other hosts goes through "
        "host memory)")
WSH_ENV(provider, STR, "SHMEM_LIBFABRIC_PROVIDER", "", "NVSHMEM_LIBFABRIC_PROVIDER SHMEM_OFI_PROVIDER",
        "libfabric provider for the efa transport, e.g. efa, tcp, shm (empty = best found)")
WSH_ENV(domain, STR, "SHMEM_LIBFABRIC_DOMAIN", "", "SHMEM_OFI_DOMAIN",
        "libfabric domain (NIC) name for the efa transport, its only one (empty = those that SHMEM_NICS* choose, or "
        "the first)")
WSH_ENV(interface, STR, "SHMEM_INTERFACE", "", "",
        "where PEs listen when the network is sockets: names of interfaces, addresses or networks such as 10.0.0.0/8, "
        "separated by commas (empty = loopback where all PEs are on one machine, else the first that others reach)")
WSH_ENV(nics, STR, "SHMEM_NICS", "", "NVSHMEM_HCA_LIST",
        "NICs that may be used, by name or PCI address, separated by commas; * and ? match; ^ in front: all but these "
        "(empty = all)")
WSH_ENV(nics_exclude, STR, "SHMEM_NICS_EXCLUDE", "", "", "NICs that may not be used, written like SHMEM_NICS")
WSH_ENV(nics_per_pe, INT, "SHMEM_NICS_PER_PE", "0", "",
        "NICs that each PE uses, 1 to 8 (0 = those nearest to its GPU or processors, shared out among the host's PEs)")
WSH_ENV(lanes, ENUM(auto|1|2|3|4), "SHMEM_LANES", "auto", "",
        "independent sets of endpoints that each PE has on its NICs, to which contexts are dealt: threads whose "
        "contexts have different ones never wait for each other; auto is 1, or as many as there are proxy threads, "
        "and with SHMEM_THREAD_MULTIPLE as many as a PE has processors, at most 4")
WSH_ENV(nics_policy, ENUM(adaptive|fixed|roundrobin), "SHMEM_NICS_POLICY", "adaptive", "",
        "how a PE with several NICs uses them: adaptive (each operation to the NIC with the least under way, large "
        "ones in pieces to whichever NIC has room), fixed (large ones in equal pieces, one a NIC) or roundrobin "
        "(whole, in turn)")
WSH_ENV(pe_gpu, STR, "SHMEM_PE_GPU", "", "",
        "GPU that the NICs of a PE should be near: numbers or PCI addresses separated by commas, taken by the PEs of a "
        "host in turn, or none (empty = by CUDA_VISIBLE_DEVICES and the PE's number on the host)")
WSH_ENV(topology, STR, "SHMEM_TOPOLOGY", "", "",
        "hwloc XML file to take this machine's picture from, made by lstopo (empty = look at the machine)")
WSH_ENV(static_data, ENUM(auto|on|off), "SHMEM_STATIC", "auto", "",
        "make global and static variables of the program remotely accessible; auto leaves interpreters alone")
WSH_ENV(huge_pages, ENUM(auto|on|off), "SHMEM_HUGE_PAGES", "auto", "",
        "huge pages for the symmetric heap: auto (ask for transparent ones), on (2 MiB hugetlb, an error "
        "without) or off")
WSH_ENV(progress, ENUM(auto|thread|call), "SHMEM_PROGRESS", "auto", "",
        "who serves peers of the network while the program computes: auto (a thread that stays away while the "
        "program itself waits in the library), thread (one for each lane that never does), or call (nobody; not "
        "conforming); threads run near the NICs, with auto only where the program may use all processors there")
WSH_ENV(proxy, ENUM(auto|on|off), "SHMEM_PROXY", "auto", "",
        "a thread that carries out what kernels ask for in memory that their GPU does not reach, and atomics in host "
        "memory: auto (where some PE is on another host), on, or off (kernels are refused it)")
WSH_ENV(proxy_threads, INT, "SHMEM_PROXY_THREADS", "1", "",
        "threads of the proxy, 1 to 8, near the NICs: PEs are shared out among them, so a PE that talks to few others "
        "needs few")
WSH_ENV(proxy_rings, INT, "SHMEM_PROXY_RINGS", "8", "",
        "queues from kernels to the proxy, 1 to 16, as many for each of its threads; blocks are shared out among them")
WSH_ENV(spin_us, INT, "SHMEM_SPIN_US", "-1", "",
        "microseconds to spin in a wait before yielding the core (-1 = by the number of PEs and cores)")
WSH_ENV(hang_seconds, SECONDS, "SHMEM_HANG_SECONDS", "60", "",
        "report what a PE waits for after so many seconds in init, barrier, quiet or wait (0 = never)")
WSH_ENV(sync_linear_max, INT, "SHMEM_SYNC_LINEAR_MAX", "32", "",
        "largest team whose barrier signals every member at once; larger ones use dissemination")
WSH_ENV(team_memory, SIZE, "SHMEM_TEAM_MEMORY", "3M", "",
        "bytes of symmetric memory a PE, beside the heap, for the flags of teams (6 to 11 KiB a team of 8 PEs)")
WSH_ENV(device_epoch, INT, "SHMEM_DEVICE_EPOCH", "0", "",
        "internal: number of the last collective before a team's first one in kernels, to test where numbers wrap")
WSH_ENV(node_emulated, INT, "SHMEM_NODE_EMULATED", "-1", "",
        "internal: number of the emulated node of this PE (oshrun --nodes-emulated)")
WSH_ENV(oshrun_pid, INT, "SHMEM_OSHRUN_PID", "-1", "", "internal: process id of the oshrun that started this PE")
