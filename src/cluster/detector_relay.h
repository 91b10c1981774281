/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Probes done for others.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_DETECTOR_RELAY_H
#define TROUPE_CLUSTER_DETECTOR_RELAY_H

#include "cluster/state.h"

/* `from` asks for a probe. */
void trp_detector_on_ping_req(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire);

/* Passes an answer on to the member for which `from` was probed, if it was. */
void trp_detector_relay_answer(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire);

/* Says of those that didn't answer in time that we, at least, are there. */
void trp_detector_expire_relays(trp_cluster_core_t *core);

uint64_t trp_detector_relay_wakeup(const trp_cluster_core_t *core);

#endif
