/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* CURVE: whose keys are let in (ZAP), and which key a dialled address has.
 *
 * Thread rule: the link thread. */

#ifndef TROUPE_LINK_CURVE_H
#define TROUPE_LINK_CURVE_H

#include "net/link/state.h"

/* All do nothing when the link has no keys. */
troupe_err_t trp_curve_server(trp_link_t *link, void *router);
/* Gives a DEALER this node's keys and that of whom it connects to. EAUTH: nobody is allowed. */
troupe_err_t trp_curve_client(trp_link_t *link, void *dealer, trp_conn_t *conn);
troupe_err_t trp_curve_open_zap(trp_link_t *link);
/* Answers what ZeroMQ asks about keys. */
void trp_curve_answer_zap(trp_link_t *link);

/* The peer with that key listens there. */
void trp_curve_learn(trp_link_t *link, const char *key, const char *address);

#endif
