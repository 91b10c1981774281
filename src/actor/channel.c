/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/channel.h"

#include "base/assert.h"

_Static_assert((TRP_CHANNEL_LEN & (TRP_CHANNEL_LEN - 1)) == 0, "the ring is indexed by a mask");
_Static_assert(TRP_CHANNEL_LOW < TRP_CHANNEL_HIGH && TRP_CHANNEL_HIGH < TRP_CHANNEL_LEN,
               "parked senders go on before the ring runs empty");

void trp_channel_outbox_add(trp_channel_t *channel, trp_message_t *message)
{
    message->next = NULL;
    if (channel->outbox_tail == NULL) {
        channel->outbox_head = message;
    } else {
        channel->outbox_tail->next = message;
    }
    channel->outbox_tail = message;
    channel->outbox_len++;
}

bool trp_channel_outbox_move(trp_channel_t *channel)
{
    while (channel->outbox_len > 0 && trp_channel_len(channel) < TRP_CHANNEL_LEN) {
        trp_message_t *message = channel->outbox_head;
        channel->outbox_head = message->next;
        channel->outbox_len--;
        channel->ring[channel->tail & (TRP_CHANNEL_LEN - 1)] = message;
        channel->tail++;
    }
    if (channel->outbox_len == 0) {
        channel->outbox_tail = NULL;
        TRP_ASSERT(channel->outbox_head == NULL);
    }
    return channel->outbox_len == 0;
}
