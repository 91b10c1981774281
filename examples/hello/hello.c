/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The smallest whole program: a node, an actor with a state, and a question from the main thread. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/troupe.h>

/* The greeter's state. It belongs to the actor alone: no lock is needed, ever. */
typedef struct greeter {
    unsigned greeted;
} greeter_t;

/* Called for each message, one at a time. */
static troupe_err_t greeter_receive(troupe_actor_t *self, void *state,
                                    const troupe_message_t *message)
{
    greeter_t *greeter = state;
    char text[256];
    greeter->greeted += 1;
    int size = snprintf(text, sizeof(text), "Hello, %.*s! You are number %u.", (int)message->size,
                        (const char *)message->body, greeter->greeted);
    return troupe_reply(self, TROUPE_TYPE_TEXT, text, (size_t)size);
}

static const troupe_behavior_t greeter_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "greeter",
    .state_size = sizeof(greeter_t),
    .receive = greeter_receive,
};

/* Everything that can fail returns an error; here any of them ends the program. */
static void must(troupe_err_t err, const char *what)
{
    if (err != TROUPE_OK) {
        fprintf(stderr, "%s: %s\n", what, troupe_err_text(err));
        exit(EXIT_FAILURE);
    }
}

static void ask(troupe_inbox_t *inbox, troupe_ref_t greeter, const char *name)
{
    troupe_letter_t *reply = NULL;
    must(troupe_inbox_ask(inbox, greeter, TROUPE_TYPE_TEXT, name, strlen(name), 5000, &reply),
         "ask");
    const troupe_message_t *message = troupe_letter_message(reply);
    printf("%.*s\n", (int)message->size, (const char *)message->body);
    troupe_letter_free(&reply);
}

int main(void)
{
    /* Without a bind address a node has no links: a local actor system. */
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *node = NULL;
    must(troupe_node_create(&options, &node), "create");
    must(troupe_node_start(node), "start");

    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    spawn.name = "greeter"; /* Its path is /user/greeter. */
    troupe_ref_t greeter = troupe_ref_none();
    must(troupe_node_spawn(node, &greeter_behavior, &spawn, &greeter), "spawn");

    /* The main thread is no actor: it talks through an inbox. */
    troupe_inbox_t *inbox = NULL;
    must(troupe_inbox_open(node, NULL, &inbox), "inbox");
    ask(inbox, greeter, "moon");
    ask(inbox, greeter, "world");
    troupe_inbox_close(&inbox);

    must(troupe_node_stop(node, 5000), "stop");
    troupe_node_destroy(&node);
    return EXIT_SUCCESS;
}
