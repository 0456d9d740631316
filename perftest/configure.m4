# SPDX-License-Identifier: BSD-3-Clause
# perftest: make peers, compare (cores, intranode and regress are kinds of it) and plot work in the build folder too.
AC_CONFIG_LINKS([perftest/Makefile:perftest/Makefile
                 perftest/compare:perftest/compare
                 perftest/cores:perftest/compare
                 perftest/intranode:perftest/compare
                 perftest/regress:perftest/compare
                 perftest/plot:perftest/plot])
