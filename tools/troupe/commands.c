/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The table of commands: what they are called, what they take, what they say of themselves. */

#include "tool.h"

static const tool_flag_t tool_no_flags[] = {{TOOL_FLAG_END, "", "", ""}};

static const tool_flag_t tool_node_flags[] = {
    {TOOL_FLAG_TEXT, "config", "FILE", "read this YAML file"},
    {TOOL_FLAG_BOOL, "check", "", "look at the configuration, run nothing"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_config_flags[] = {
    {TOOL_FLAG_TEXT, "config", "FILE", "read this YAML file"},
    {TOOL_FLAG_BOOL, "markdown", "", "describe every option as a page of documentation"},
    {TOOL_FLAG_BOOL, "changed", "", "only what isn't at its default"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_ping_flags[] = {
    {TOOL_FLAG_BOOL, "up", "", "wait until the node runs and is up"},
    {TOOL_FLAG_NUMBER, "count", "N", "ping so often (1)"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_topics_flags[] = {
    {TOOL_FLAG_NUMBER, "limit", "N", "at most so many (10,000; 0: all)"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_tree_flags[] = {
    {TOOL_FLAG_NUMBER, "limit", "N", "at most so many actors (10,000)"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_pub_flags[] = {
    {TOOL_FLAG_TEXT, "type", "NAME", "message type (text)"},
    {TOOL_FLAG_BOOL, "groups", "", "to one subscriber of each group"},
    {TOOL_FLAG_BOOL, "confirm", "", "wait for how many took it"},
    {TOOL_FLAG_NUMBER, "wait", "MS", "wait so long for somebody to subscribe"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_sub_flags[] = {
    {TOOL_FLAG_TEXT, "group", "NAME", "subscribe as a member of this group"},
    {TOOL_FLAG_BOOL, "pattern", "", "TOPIC is a pattern: * is one word, > the rest"},
    {TOOL_FLAG_NUMBER, "count", "N", "end after so many messages"},
    {TOOL_FLAG_BOOL, "raw", "", "print bodies only"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_tell_flags[] = {
    {TOOL_FLAG_TEXT, "type", "NAME", "message type (text)"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_keygen_flags[] = {
    {TOOL_FLAG_TEXT, "out", "FILE", "write the secret key here, FILE.pub gets the public one"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_log_flags[] = {
    {TOOL_FLAG_TEXT, "room", "NAME", "only this room: link, cluster, pubsub, ..."},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t tool_leave_flags[] = {
    {TOOL_FLAG_TEXT, "node", "MEMBER", "another member, by address or uid"},
    {TOOL_FLAG_END, "", "", ""},
};

#define TOOL_MESSAGE_HELP                                                                          \
    "ACTOR is a path (/user/chat), an address (troupe://name@host:port/user/chat) or a\n"          \
    "reference (#uid.id). BODY is the message's bytes; without it, or when it is -, they are\n"    \
    "read from standard input.\n"

const tool_command_t tool_commands[] = {
    {"node", "", "run a node until SIGTERM or SIGINT",
     "Options come from defaults, then the file, then TROUPE_* variables, then flags; the later\n"
     "ones win. SIGTERM or SIGINT leaves the cluster and stops; a second one ends at once.\n"
     "SIGHUP opens the log file anew. Exit codes: 0 stopped as asked, 1 failed, 2 configuration\n"
     "not valid, 4 not up in time, 5 refused by the cluster, 6 downed.\n",
     0, 0, tool_node_flags, true, true, tool_run_node},
    {"config", "", "show the options in force and where they come from", 0, 0, 0, tool_config_flags,
     true, true, tool_run_config},
    {"info", "", "what the node is", 0, 0, 0, tool_no_flags, false, false, tool_run_info},
    {"members", "", "the members of the cluster, as the node sees them", 0, 0, 0, tool_no_flags,
     false, false, tool_run_members},
    {"links", "", "the node's links to other nodes", 0, 0, 0, tool_no_flags, false, false,
     tool_run_links},
    {"topics", "", "topics that have subscribers", 0, 0, 0, tool_topics_flags, false, false,
     tool_run_topics},
    {"stats", "", "counters, and the law of conservation", 0, 0, 0, tool_no_flags, false, false,
     tool_run_stats},
    {"tree", "", "the actors of the node", 0, 0, 0, tool_tree_flags, false, false, tool_run_tree},
    {"ping", "[MEMBER]", "is the node there; how far away is a member", 0, 0, 1, tool_ping_flags,
     false, false, tool_run_ping},
    {"pub", "TOPIC [BODY]", "publish a message",
     "BODY is the message's bytes; without it, or when it is -, they are read from standard\n"
     "input. With --confirm the exit code is 1 when nobody took it.\n",
     1, 2, tool_pub_flags, false, false, tool_run_pub},
    {"sub", "TOPIC", "subscribe and print what comes",
     "Ends after --count messages, when none came for --timeout, or by SIGINT.\n", 1, 1,
     tool_sub_flags, false, false, tool_run_sub},
    {"tell", "ACTOR [BODY]", "send a message to an actor", TOOL_MESSAGE_HELP, 1, 2, tool_tell_flags,
     false, false, tool_run_tell},
    {"ask", "ACTOR [BODY]", "send a message to an actor and print its answer", TOOL_MESSAGE_HELP, 1,
     2, tool_tell_flags, false, false, tool_run_ask},
    {"leave", "", "let the node, or another member, leave the cluster", 0, 0, 0, tool_leave_flags,
     false, false, tool_run_leave},
    {"down", "MEMBER", "declare a member down for good, by address or uid", 0, 1, 1, tool_no_flags,
     false, false, tool_run_down},
    {"log", "LEVEL", "change the log level of the running node", 0, 1, 1, tool_log_flags, false,
     false, tool_run_log},
    {"keygen", "", "make a pair of CURVE keys", 0, 0, 0, tool_keygen_flags, true, false,
     tool_run_keygen},
    {"bench", "...", "run the benchmark (troupe-bench), with its own arguments", 0, 0,
     TOOL_ARGS_MAX, tool_no_flags, true, false, tool_run_bench},
    {"version", "", "the version", 0, 0, 0, tool_no_flags, true, false, tool_run_version},
    {0, 0, 0, 0, 0, 0, 0, false, false, 0},
};
