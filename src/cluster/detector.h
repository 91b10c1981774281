/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Failure detection: one member is probed at a time, in random order, each once a round. Who doesn't
 * answer a ping is probed through some others before it is suspected. A local health score stretches
 * all times while this node has reason to mistrust itself.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_DETECTOR_H
#define TROUPE_CLUSTER_DETECTOR_H

#include "cluster/state.h"

void trp_detector_init(trp_cluster_core_t *core);
void trp_detector_fini(trp_cluster_core_t *core);

void trp_detector_tick(trp_cluster_core_t *core);
uint64_t trp_detector_wakeup(const trp_cluster_core_t *core);

void trp_detector_on_ping(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire);
void trp_detector_on_ack(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire);
void trp_detector_on_relayed(trp_cluster_core_t *core, const trp_wire_t *wire);
void trp_detector_on_nack(trp_cluster_core_t *core, const trp_wire_t *wire);

/* The connection to a member stands: a ping that couldn't go out goes now. */
void trp_detector_on_connected(trp_cluster_core_t *core, uint64_t uid);

/* The connection to a member broke, which is no proof of anything: it is probed next. */
void trp_detector_on_disconnected(trp_cluster_core_t *core, uint64_t uid);

/* Worsens (positive) or betters the local health. */
void trp_detector_add_health(trp_cluster_core_t *core, int change);

#endif
