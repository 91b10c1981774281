/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Intrusive doubly linked list, a ring through a head:
 *
 *     head <-> a <-> b <-> c <-> (head)
 *
 * An element embeds a trp_node_link_t and is found again with TRP_CONTAINER_OF. A link that is in no
 * list has next == NULL. Nothing allocates.
 *
 * Thread rule: a list belongs to its thread. */

#ifndef TROUPE_BASE_LIST_H
#define TROUPE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/assert.h"
#include "base/attr.h"

typedef struct trp_node_link {
    struct trp_node_link *next;
    struct trp_node_link *prev;
} trp_node_link_t;

typedef struct trp_list {
    trp_node_link_t head;
} trp_list_t;

static inline void trp_list_init(trp_list_t *list)
{
    list->head.next = &list->head;
    list->head.prev = &list->head;
}

static inline void trp_list_link_init(trp_node_link_t *link)
{
    link->next = NULL;
    link->prev = NULL;
}

static inline bool trp_list_is_linked(const trp_node_link_t *link)
{
    return link->next != NULL;
}

static inline bool trp_list_is_empty(const trp_list_t *list)
{
    return list->head.next == &list->head;
}

/* Puts `link` before `place`, which is in a list. */
static inline void trp_list_insert_before(trp_node_link_t *place, trp_node_link_t *link)
{
    TRP_ASSERT_DEBUG(!trp_list_is_linked(link));
    link->next = place;
    link->prev = place->prev;
    place->prev->next = link;
    place->prev = link;
}

static inline void trp_list_push_back(trp_list_t *list, trp_node_link_t *link)
{
    trp_list_insert_before(&list->head, link);
}

static inline void trp_list_push_front(trp_list_t *list, trp_node_link_t *link)
{
    trp_list_insert_before(list->head.next, link);
}

/* Takes `link` out of the list it is in. */
static inline void trp_list_remove(trp_node_link_t *link)
{
    TRP_ASSERT_DEBUG(trp_list_is_linked(link));
    link->prev->next = link->next;
    link->next->prev = link->prev;
    trp_list_link_init(link);
}

/* The first or last link; NULL when the list is empty. */
static inline trp_node_link_t *trp_list_first(trp_list_t *list)
{
    return trp_list_is_empty(list) ? NULL : list->head.next;
}

static inline trp_node_link_t *trp_list_last(trp_list_t *list)
{
    return trp_list_is_empty(list) ? NULL : list->head.prev;
}

/* Takes the first link out; NULL when the list is empty. */
static inline trp_node_link_t *trp_list_pop_front(trp_list_t *list)
{
    trp_node_link_t *link = trp_list_first(list);
    if (link != NULL) {
        trp_list_remove(link);
    }
    return link;
}

/* Moves all of `from` to the back of `list`, in order. */
static inline void trp_list_append(trp_list_t *list, trp_list_t *from)
{
    if (trp_list_is_empty(from)) {
        return;
    }
    from->head.next->prev = list->head.prev;
    from->head.prev->next = &list->head;
    list->head.prev->next = from->head.next;
    list->head.prev = from->head.prev;
    trp_list_init(from);
}

/* Walks over the links; the body must not take `link` out. */
#define TRP_LIST_FOREACH(link, list)                                                               \
    for (trp_node_link_t *link = (list)->head.next; link != &(list)->head; link = link->next)

/* As above; the body may take `link`, and no other, out or free it. */
#define TRP_LIST_FOREACH_SAFE(link, list)                                                          \
    for (trp_node_link_t *link = (list)->head.next, *link##_next = link->next;                     \
         link != &(list)->head; link = link##_next, link##_next = link->next)

#endif
