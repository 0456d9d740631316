# SPDX-License-Identifier: BSD-3-Clause
# perftest: make peers, compare, cores, intranode and plot work in the build folder too.
AC_CONFIG_LINKS([perftest/Makefile:perftest/Makefile
                 perftest/compare:perftest/compare
                 perftest/cores:perftest/host/cores
                 perftest/intranode:perftest/host/intranode
                 perftest/plot:perftest/plot])
