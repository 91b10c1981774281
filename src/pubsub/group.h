/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Choosing one of many.
 *
 * Thread rule: the site's dispatcher. */

#ifndef TROUPE_PUBSUB_GROUP_H
#define TROUPE_PUBSUB_GROUP_H

#include "pubsub/outgoing.h"

/* Gives it to a member of a group on this dispatcher, or to another that is there. */
uint32_t trp_group_take(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                        const trp_routing_words_t *words);
/* A publication to a group has come from another node: to a member of this one. */
void trp_group_here(trp_site_t *site, trp_replica_topic_t *topic, const trp_publication_t *what,
                    const trp_routing_words_t *words);
typedef struct trp_choice {
    troupe_routing_t routing;
    uint64_t key;
} trp_choice_t;
/* One of a group's members. */
const trp_target_member_t *trp_group_choose(trp_site_t *site, const trp_replica_topic_t *topic,
                                            const trp_target_group_t *group,
                                            const trp_choice_t *choice);
/* Sends to a chosen member, with words that say how. True when it is under way. */
bool trp_group_send(trp_site_t *site, trp_replica_topic_t *topic, const trp_target_member_t *member,
                    const trp_publication_t *what, const trp_routing_words_t *words);
/* A number below `len`, by routing; `which` tells apart what is rotated over. */
uint32_t trp_choose(trp_site_t *site, const trp_choice_t *choice, uint64_t which, uint32_t len);

/* The words of a publication to one member of a group; `group` is left to be set. */
void trp_group_words(const trp_site_t *site, const trp_choice_t *choice,
                     trp_routing_words_t *ret_words);

#endif
