/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures that others published, each on machines and by a clock of its own: none was measured by this project.
 * shape, system, machine, PEs, dtype, us of dispatch, of combine, of both, note, source, date. Decode: 128 tokens a PE;
 * prefill: 4096. Several numbers of PEs, or dtypes, and their figures are separated by `/`. The date is that of the
 * source, where it has one.
 */
/* clang-format off */
#define B200 "p6-b200, EFA"
#define P5EN "p5en, EFA"
#define AWSOME "awsome-distributed-training#1238, RESULTS-b200"
#define PPLX "pplx-garden, docs/fabric-lib"
#define UCCL "uccl, ep/README"
#define READ "undated, read by 2026-11"
#define OWN "its own clock"
PUBLISHED("decode", "DeepEP V2, EFA GDA", P5EN, "16/32", "fp8", "107/172-182", "137/234-244", "", OWN, "DeepEP V2",
          "read 2026-11-27")
PUBLISHED("decode", "DeepEP V2, EFA GDA", B200, "16/32", "fp8", "128/179", "173/283", "", OWN, "DeepEP V2",
          "read 2026-11-27")
PUBLISHED("decode", "DeepEP V2, EFA GDA", "p6-b300, EFA", "16/32", "fp8", "118/152", "160/271-293", "", OWN,
          "DeepEP V2", "read 2026-11-27")
PUBLISHED("decode", "DeepEP V2, EFA GDA", B200, "16", "fp8/bf16", "185.6/195.3", "199.4/197.5", "471.2/483.9",
          "both: slowest rank, one boundary", AWSOME, "2026-09-01, parts 2026-08-24")
PUBLISHED("decode", "UCCL-EP", B200, "16", "fp8/bf16", "", "", "525.8/598.6", "slowest rank, one boundary",
          AWSOME, "2026-09-01")
PUBLISHED("decode", "DeepEP V1, NVSHMEM 3.7", B200, "16", "fp8/bf16", "", "", "1026.4/1035.8",
          "slowest rank, one boundary", AWSOME, "2026-09-01")
PUBLISHED("decode", "DeepEP V2, EFA GDA", B200, "32", "fp8/bf16", "275.7/314.2", "370.9/370.9", "836.1/942.3",
          "both: slowest rank, one boundary", AWSOME, "2026-09-01, parts 2026-08-24")
PUBLISHED("decode", "UCCL-EP", B200, "32", "fp8/bf16", "", "", "775.8/871.8", "slowest rank, one boundary",
          AWSOME, "2026-09-01")
PUBLISHED("decode", "DeepEP V1, NVSHMEM 3.7", B200, "32", "fp8/bf16", "", "", "1556.8/1559.8",
          "slowest rank, one boundary", AWSOME, "2026-09-01")
PUBLISHED("decode", "DeepEP V2, GIN proxy", P5EN, "16", "", "279", "344", "615", "3 SMs, 12 queues; both: p50",
          "DeepEP#612", READ)
PUBLISHED("decode", "DeepEP V2, GIN proxy", "p5, EFA", "16", "", "492", "440", "954", "both: p50", "DeepEP#612",
          READ)
PUBLISHED("decode", "DeepEP V2, GIN proxy", P5EN, "16", "", "286-325", "321-332", "", "384 experts",
          "DeepEP#706", READ)
PUBLISHED("decode", "pplx-garden", "like p5en, EFA", "8/16/32/64", "", "49.7/214.8/229.1/266.7",
          "64.2/241.5/335.0/391.2", "", "", PPLX, READ)
PUBLISHED("decode", "pplx-garden, run by AWS", "EFA", "128", "", "424.5", "588.5", "", "",
          "awsome-distributed-training, pplx-garden-benchmark", READ)
PUBLISHED("decode", "UCCL-EP", P5EN, "16/24/32", "fp8, bf16", "226/386/465", "293/580/694", "", "", UCCL, READ)
PUBLISHED("decode", "UCCL-EP", B200, "16/24/32", "fp8, bf16", "228/448/406", "318/566/617", "", "", UCCL, READ)
PUBLISHED("decode", "UCCL-EP, run by AWS", "EFA", "8/16/32", "", "66.1/301/358", "86.6/834.5/689", "",
          "64 PEs crashed", "awsome-distributed-training, pplx-garden-benchmark", READ)
PUBLISHED("decode", "posts by the CPU, lower bound", P5EN, "16/24/32", "", "286.6/377.8/425.5", "", "",
          "rows of 7 KB; 231.9 for 64 of 14 KB at 32 PEs", "uccl#505", READ)
PUBLISHED("decode", "pplx-garden", "ConnectX-7", "16/32/64", "", "110.2/153.9/187.5", "185.5/266.3/309.1", "",
          "", PPLX, READ)
PUBLISHED("decode", "DeepEP V1", "ConnectX-7", "8/16/32/64", "fp8, bf16", "42.6/123.9/159.1/177.9",
          "72.0/203/285/325", "", "run by the authors of pplx-garden", PPLX, READ)
PUBLISHED("decode", "DeepEP V1", "H800, ConnectX-7", "8/16/32/64/128/256", "fp8, bf16",
          "77/118/155/173/192/194", "114/195/273/314/369/360", "", "", "DeepEP, docs/legacy", READ)
PUBLISHED("decode", "pplx-kernels", "8 x H100, NVLink", "8", "", "83.6", "102.3", "", "1 token: 41.6, 41.7",
          "pplx-kernels, README", READ)
PUBLISHED("prefill", "DeepEP V2, EFA GDA", B200, "16", "fp8/bf16", "864.7/1501", "1615", "2657.8/3370.9",
          "64 SMs; fp8 35 GB/s scale-out, 203 scale-up; combine 36", "RESULTS-b200", "2026-09-01")
PUBLISHED("prefill", "UCCL-EP", B200, "16", "fp8/bf16", "1161/1638", "2097", "5269.1/5508.8",
          "20 SMs; parts: its own prints", "RESULTS-b200", "2026-09-01")
PUBLISHED("prefill", "DeepEP V1, NVSHMEM 3.7", B200, "16", "fp8/bf16", "1014/1639", "1633", "2974.2/3544.8",
          "20 SMs; parts: its own prints", "RESULTS-b200", "2026-09-01")
PUBLISHED("prefill", "DeepEP V2, EFA GDA", B200, "32", "fp8/bf16", "", "", "6622.6/8709.8", "", "RESULTS-b200",
          "2026-09-01")
PUBLISHED("prefill", "UCCL-EP", B200, "32", "fp8/bf16", "", "", "8089.4/9889.8", "", "RESULTS-b200", "2026-09-01")
PUBLISHED("prefill", "DeepEP V1, NVSHMEM 3.7", B200, "32", "fp8/bf16", "", "", "12749.3/13176.9", "",
          "RESULTS-b200", "2026-09-01")
PUBLISHED("prefill", "DeepEP V2, EFA GDA", "2 x p6-b300, EFA", "16", "", "1036-1065", "", "",
          "expanded, 400 MB; 115-118 GB/s scale-out, 373-387 scale-up", "awsome-distributed-training#1234",
          READ)
PUBLISHED("prefill", "DeepEP V2, EFA GDA", P5EN, "16", "fp8", "1503", "3187", "", "8192 tokens; its own clock",
          "DeepEP V2", "read 2026-11-27")
PUBLISHED("prefill", "pplx-garden", "EFA", "8/16/32/64/128", "", "1052/3197/4619/5334/5883",
          "1397/5379/8272/9779/10785", "", "128 PEs: run by AWS", PPLX, READ)
PUBLISHED("prefill", "UCCL-EP", P5EN, "8", "", "500", "973", "", "320 and 319 GB/s", UCCL, READ)
PUBLISHED("prefill", "UCCL-EP", P5EN, "16/24/32", "", "1196/1633/2022", "6379/6365/4899", "",
          "50/53/54 and 18/26/43 GB/s", UCCL, READ)
PUBLISHED("prefill", "UCCL-EP", B200, "8/16/24/32", "", "571/1141/1637/2072", "727/1965/2887/3724", "",
          "280/53/53/53 and 426/60/59/57 GB/s", UCCL, READ)
PUBLISHED("prefill", "DeepEP V2", "SM90, ConnectX-7", "16/32", "", "", "", "",
          "8192 tokens; 90/81 GB/s by 12 SMs; 61/61 by 6", "DeepEP, README", READ)
PUBLISHED("prefill", "DeepEP V2, NVLink", "SM100, B300", "8", "", "", "", "",
          "726/740 GB/s by 64 SMs, 643/675 by 24; B300 731.9/741.0", "DeepEP, README and #630", READ)
PUBLISHED("prefill", "DeepEP V1", "H800, ConnectX-7", "8/16/32/64", "", "", "", "",
          "153/158, 43/43, 58/57, 51/50 GB/s", "DeepEP, docs/legacy", READ)
#undef B200
#undef P5EN
#undef AWSOME
#undef PPLX
#undef UCCL
#undef READ
#undef OWN
