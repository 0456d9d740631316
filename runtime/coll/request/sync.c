/* SPDX-License-Identifier: BSD-3-Clause */
/* The sync of a request: each member counts at all others or, in large teams, by dissemination. */
#include "runtime/coll/request/phases.h"

#include "runtime/coll/request/send.h"

#define LINEAR_MAX 32 /* members that signal each other */

int wsh_req_sync_phase(struct wsh_req *req)
{
    long n = req->team->n_pes, fan = n <= LINEAR_MAX ? n : WSH_SYNC_AREA_FAN;

    for (req->distance = req->distance ? req->distance : 1; req->distance < n; req->distance *= fan) {
        long most = (n - 1) / req->distance < fan - 1 ? (n - 1) / req->distance : fan - 1;
        int rc = 0;

        for (; req->k < most && !rc; req->k += !rc)
            rc = wsh_req_come(req, req->round, wsh_req_behind(req, (req->k + 1) * req->distance));
        if (!rc)
            rc = wsh_req_arrived(req, req->round, (uint64_t)most);
        if (rc)
            return rc;
        req->k = 0;
        req->round++;
    }
    return 0;
}

int wsh_req_sent_phase(struct wsh_req *req)
{
    return wsh_req_is_sent(req);
}

const struct wsh_req_steps wsh_req_sync = {
    (wsh_req_phase *const[]){wsh_req_sync_phase, wsh_req_sent_phase, NULL},
    true,
};
