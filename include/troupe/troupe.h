/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* All public headers at once, for programs; inside the library each file includes what it uses. */

#ifndef TROUPE_TROUPE_H
#define TROUPE_TROUPE_H

#include <troupe/actor.h>
#include <troupe/api.h>
#include <troupe/ask.h>
#include <troupe/cluster.h>
#include <troupe/config.h>
#include <troupe/error.h>
#include <troupe/events.h>
#include <troupe/inbox.h>
#include <troupe/log.h>
#include <troupe/lookup.h>
#include <troupe/node.h>
#include <troupe/offload.h>
#include <troupe/pubsub.h>
#include <troupe/ref.h>
#include <troupe/router.h>
#include <troupe/stats.h>
#include <troupe/timer.h>
#include <troupe/type.h>
#include <troupe/version.h>

#endif
