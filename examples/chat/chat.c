/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A chat of two nodes over a topic.
 *
 *     chat                              both nodes in this one process, a short talk, the end
 *     chat NAME ADDRESS [SEED]          one node of a real cluster; what you type is said to all
 *
 * In two terminals:   chat ada 127.0.0.1:7001
 *                     chat ben 127.0.0.1:7002 127.0.0.1:7001  */

#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/troupe.h>

static const char room[] = "chat.lobby";

static void must(troupe_err_t err, const char *what)
{
    if (err != TROUPE_OK) {
        fprintf(stderr, "%s: %s\n", what, troupe_err_text(err));
        exit(EXIT_FAILURE);
    }
}

/* ---- the chatter: an actor that says what it is told to say and prints what it hears --------------- */

typedef struct chatter {
    char name[32];
    troupe_topic_t topic;
    troupe_ref_t owner; /* An inbox that hears of each line printed; none in a terminal. */
} chatter_t;

typedef struct chatter_args {
    char name[32];
    troupe_ref_t owner;
} chatter_args_t;

static troupe_err_t chatter_init(troupe_actor_t *self, void *state, const void *args)
{
    chatter_t *chatter = state;
    const chatter_args_t *given = args;
    memcpy(chatter->name, given->name, sizeof(chatter->name));
    chatter->owner = given->owner;
    troupe_err_t err =
        troupe_topic_open(troupe_actor_node(self), room, sizeof(room) - 1, NULL, &chatter->topic);
    if (err != TROUPE_OK) {
        return err;
    }
    /* The answer comes when every member knows of us: what is said from then on is heard. */
    troupe_subscribe_options_t options = TROUPE_SUBSCRIBE_OPTIONS_INIT;
    options.cluster = true;
    return troupe_subscribe(self, chatter->topic, &options);
}

static void chatter_stop(troupe_actor_t *self, void *state, troupe_err_t reason)
{
    chatter_t *chatter = state;
    (void)reason;
    troupe_topic_close(troupe_actor_node(self), &chatter->topic);
}

static troupe_err_t chatter_tell_owner(troupe_actor_t *self, const chatter_t *chatter,
                                       const void *text, size_t size)
{
    if (troupe_ref_is_none(chatter->owner)) {
        return TROUPE_OK;
    }
    return troupe_tell(self, chatter->owner, TROUPE_TYPE_TEXT, text, size);
}

static troupe_err_t chatter_receive(troupe_actor_t *self, void *state,
                                    const troupe_message_t *message)
{
    chatter_t *chatter = state;
    char line[512];
    int size = 0;
    if (message->type.id == TROUPE_TYPE_PUBSUB_ACK.id) {
        return chatter_tell_owner(self, chatter, "ready", 5);
    }
    if (message->type.id == TROUPE_TYPE_BYTES.id) { /* To be said: published to the room. */
        size = snprintf(line, sizeof(line), "<%s> %.*s", chatter->name, (int)message->size,
                        (const char *)message->body);
        size_t fits = (size_t)size < sizeof(line) ? (size_t)size : sizeof(line) - 1;
        return troupe_publish(self, chatter->topic, TROUPE_TYPE_TEXT, line, fits);
    }
    printf("%s sees %.*s\n", chatter->name, (int)message->size, (const char *)message->body);
    fflush(stdout);
    return chatter_tell_owner(self, chatter, message->body, message->size);
}

static const troupe_behavior_t chatter_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "chatter",
    .state_size = sizeof(chatter_t),
    .init = chatter_init,
    .receive = chatter_receive,
    .stop = chatter_stop,
};

static troupe_ref_t spawn_chatter(troupe_node_t *node, const char *name, troupe_ref_t owner)
{
    chatter_args_t args = {.owner = owner};
    troupe_spawn_options_t options = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_ref_t ref = troupe_ref_none();
    snprintf(args.name, sizeof(args.name), "%s", name);
    options.name = "chatter";
    options.args = &args;
    options.args_size = sizeof(args);
    must(troupe_node_spawn(node, &chatter_behavior, &options, &ref), "spawn");
    return ref;
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

static troupe_node_t *start_node(const char *address, const char *seed)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_node_t *node = NULL;
    options.cluster_name = "chat";
    options.bind = address;
    options.seeds = (troupe_string_list_t){&seed, seed != NULL ? 1 : 0};
    must(troupe_node_create(&options, &node), "create");
    must(troupe_node_start(node), "start");
    must(troupe_node_wait_up(node, 20000), "join");
    return node;
}

static void end_node(troupe_node_t *node)
{
    must(troupe_node_stop(node, 10000), "stop");
    troupe_node_destroy(&node);
}

/* Waits until the chatter has said that it heard a line with these words. */
static void wait_for(troupe_inbox_t *inbox, const char *words)
{
    for (;;) {
        troupe_letter_t *letter = NULL;
        must(troupe_inbox_receive(inbox, 20000, &letter), words);
        const troupe_message_t *message = troupe_letter_message(letter);
        bool is_found = memmem(message->body, message->size, words, strlen(words)) != NULL;
        troupe_letter_free(&letter);
        if (is_found) {
            return;
        }
    }
}

static void say(troupe_inbox_t *inbox, troupe_ref_t chatter, const char *words)
{
    must(troupe_inbox_tell(inbox, chatter, TROUPE_TYPE_BYTES, words, strlen(words), 5000), "tell");
}

/* ---- both in one process ----------------------------------------------------------------------------- */

static int talk(void)
{
    troupe_node_t *ada_node = start_node("127.0.0.1:0", NULL);
    troupe_node_t *ben_node = start_node("127.0.0.1:0", troupe_node_address(ada_node));
    troupe_inbox_t *ada_inbox = NULL;
    troupe_inbox_t *ben_inbox = NULL;
    must(troupe_inbox_open(ada_node, NULL, &ada_inbox), "inbox");
    must(troupe_inbox_open(ben_node, NULL, &ben_inbox), "inbox");
    troupe_ref_t ada = spawn_chatter(ada_node, "ada", troupe_inbox_ref(ada_inbox));
    troupe_ref_t ben = spawn_chatter(ben_node, "ben", troupe_inbox_ref(ben_inbox));
    wait_for(ada_inbox, "ready");
    wait_for(ben_inbox, "ready");

    say(ada_inbox, ada, "Good evening, Ben.");
    wait_for(ben_inbox, "Good evening");
    say(ben_inbox, ben, "Good evening, Ada.");
    wait_for(ada_inbox, "Good evening, Ada");
    say(ada_inbox, ada, "Good night.");
    wait_for(ben_inbox, "Good night");

    troupe_inbox_close(&ada_inbox);
    troupe_inbox_close(&ben_inbox);
    end_node(ben_node);
    end_node(ada_node);
    return EXIT_SUCCESS;
}

/* ---- one node in a terminal ---------------------------------------------------------------------------- */

static int chat(const char *name, const char *address, const char *seed)
{
    char line[256];
    troupe_inbox_t *inbox = NULL;
    troupe_node_t *node = start_node(address, seed != NULL ? seed : address);
    must(troupe_inbox_open(node, NULL, &inbox), "inbox");
    troupe_ref_t chatter = spawn_chatter(node, name, troupe_ref_none());
    printf("%s is at %s; type, and end with Ctrl-D\n", name, troupe_node_address(node));
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        say(inbox, chatter, line);
    }
    troupe_inbox_close(&inbox);
    end_node(node);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        return talk();
    }
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: chat [NAME ADDRESS [SEED]]\n");
        return EXIT_FAILURE;
    }
    return chat(argv[1], argv[2], argc == 4 ? argv[3] : NULL);
}
