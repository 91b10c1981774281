/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The one table of options. YAML keys, TROUPE_* variables, --flags, defaults, validation, help and
 * docs/configuration.md all come from these lines.
 *
 * X(key, KIND, field of trp_option_values_t, default, min, max, choices, help)
 *
 * A number of 0 in troupe_node_options_t stands for the default, so `min` is 0 only where the default
 * is 0. Choices are numbered from 1, in the order of the enum that the field has. */

#ifndef TROUPE_NODE_OPTION_TABLE_H
#define TROUPE_NODE_OPTION_TABLE_H

#define TRP_OPTION_MS_MAX 86400000u /* A day: longer waits are a slip. */
#define TRP_OPTION_SIZE_MAX (UINT64_C(1) << 46)

#define TRP_OPTION_TABLE(X)                                                                        \
    TRP_OPTION_TABLE_NODE(X)                                                                       \
    TRP_OPTION_TABLE_CLUSTER(X)                                                                    \
    TRP_OPTION_TABLE_RUNTIME(X)                                                                    \
    TRP_OPTION_TABLE_PROGRAM(X)

#define TRP_OPTION_TABLE_NODE(X)                                                                   \
    X("node.name", TEXT, node.name, "", 0, 0, "",                                                  \
      "Name of the node, for people; without it its address.")                                     \
    X("node.bind", ADDRESS, node.bind, "", 0, 0, "",                                               \
      "Address to listen on for other nodes, host:port; port 0 takes a free one. Without it the "  \
      "node has no links.")                                                                        \
    X("node.advertise", ADDRESS, node.advertise, "", 0, 0, "",                                     \
      "Address that other nodes dial, when it isn't the one bound (NAT, containers). Needed when " \
      "bound to all addresses.")                                                                   \
    X("node.stop_timeout_ms", U32, stop_timeout_ms, "10000", 1, TRP_OPTION_MS_MAX, "",             \
      "How long `troupe node` may take to leave and stop after SIGTERM.")                          \
    X("node.join_timeout_ms", U32, join_timeout_ms, "0", 0, TRP_OPTION_MS_MAX, "",                 \
      "`troupe node` ends with exit code 4 when it isn't up by then; 0 tries for ever.")           \
    X("node.rejoin", BOOL, rejoin, "true", 0, 1, "",                                               \
      "`troupe node` comes back under a new uid when the others have downed it (after a pause or " \
      "a "                                                                                         \
      "split); otherwise it ends with exit code 6.")                                               \
    X("node.exit_when_refused", BOOL, exit_when_refused, "true", 0, 1, "",                         \
      "`troupe node` ends with exit code 5 when a member refuses it for its cluster name, "        \
      "version or key; otherwise it goes on trying.")                                              \
    X("security.insecure", BOOL, node.insecure, "false", 0, 1, "",                                 \
      "Allows to listen beyond loopback without keys. Anybody who reaches the port can then take " \
      "part.")                                                                                     \
    X("security.secret_key", SECRET, node.secret_key, "", 0, 0, "",                                \
      "This node's CURVE secret key, 40 characters of Z85. Better kept in "                        \
      "security.secret_key_file.")                                                                 \
    X("security.secret_key_file", PATH, node.secret_key_file, "", 0, 0, "",                        \
      "File with this node's CURVE secret key, as `troupe keygen` writes it. Must be readable by " \
      "its owner only. With a key all links are encrypted.")                                       \
    X("security.allowed_keys", LIST, node.allowed_keys, "", 0, 0, "",                              \
      "Public keys of the nodes that may connect.")                                                \
    X("security.allowed_keys_file", PATH, node.allowed_keys_file, "", 0, 0, "",                    \
      "File with one such public key a line; a line that begins with # and a space is a comment.")

#define TRP_OPTION_TABLE_CLUSTER(X)                                                                \
    X("cluster.name", TEXT, node.cluster_name, "troupe", 0, 0, "",                                 \
      "Name of the cluster. Nodes of another name are refused.")                                   \
    X("cluster.seeds", ADDRESSES, node.seeds, "", 0, 0, "",                                        \
      "Addresses of members to join by. The first one that is this node's own may found the "      \
      "cluster when no other answers. Without any the node founds its own.")                       \
    X("cluster.seeds_file", PATH, node.seeds_file, "", 0, 0, "",                                   \
      "File with one seed address a line; read anew while the node isn't joined.")                 \
    X("cluster.seeds_dns", ADDRESS, node.seeds_dns, "", 0, 0, "",                                  \
      "name:port; every address that the name resolves to is a seed.")                             \
    X("cluster.roles", LIST, node.roles, "", 0, 0, "", "Roles of this node, free words.")          \
    X("cluster.members_min", U32, node.members_min, "1", 1, 10000, "",                             \
      "Joining members become up only when there are this many.")                                  \
    X("cluster.probe_interval_ms", U32, node.probe_interval_ms, "500", 10, TRP_OPTION_MS_MAX, "",  \
      "Time between two probes of the failure detector.")                                          \
    X("cluster.probe_timeout_ms", U32, node.probe_timeout_ms, "200", 5, TRP_OPTION_MS_MAX, "",     \
      "How long a probe waits before others are asked to probe.")                                  \
    X("cluster.suspicion_ms", U32, node.suspicion_ms, "1000", 10, TRP_OPTION_MS_MAX, "",           \
      "Least time from suspect to unreachable; more in large clusters.")                           \
    X("cluster.gossip_interval_ms", U32, node.gossip_interval_ms, "150", 10, TRP_OPTION_MS_MAX,    \
      "", "Time between two rounds of membership gossip while there is news.")                     \
    X("cluster.stable_after_ms", U32, node.stable_after_ms, "3000", 100, TRP_OPTION_MS_MAX, "",    \
      "How long an unreachable member may come back before it is down for good.")                  \
    X("cluster.leave_timeout_ms", U32, node.leave_timeout_ms, "10000", 100, TRP_OPTION_MS_MAX, "", \
      "A leaving node that was not let go by then goes all the same.")                             \
    X("cluster.form_quorum", U32, node.form_quorum, "1", 1, 64, "",                                \
      "Seeds that must agree before they found a cluster.")                                        \
    X("cluster.split_brain", ENUM, node.split_policy, "keep-majority", 0, 0,                       \
      "keep-majority|static-quorum|keep-oldest|down-all", "Which side of a split goes on.")        \
    X("cluster.quorum", U32, node.quorum_len, "0", 0, 10000, "",                                   \
      "Members that a side needs with static-quorum.")                                             \
    X("pubsub.gossip_interval_ms", U32, node.pubsub_gossip_interval_ms, "1000", 10,                \
      TRP_OPTION_MS_MAX, "", "Time between two rounds of registry gossip.")                        \
    X("pubsub.tombstone_ms", U32, node.pubsub_tombstone_ms, "120000", 1000, TRP_OPTION_MS_MAX, "", \
      "How long a removed subscription or an unused topic name is remembered.")                    \
    X("pubsub.names_max", U32, node.pubsub_names_max, "2097152", 1024, 16777216, "",               \
      "Topics, groups, patterns and paths that the node can know at a time.")                      \
    X("pubsub.routing", ENUM, node.pubsub_routing, "random", 0, 0, "random|round-robin|hash",      \
      "How a member of a group is chosen when the publisher does not say.")                        \
    X("pubsub.role", TEXT, node.pubsub_role, "", 0, 0, "",                                         \
      "Only members of this role take part in topics; without it all do.")                         \
    X("pubsub.no_dead_letters", BOOL, node.pubsub_no_dead_letters, "false", 0, 1, "",              \
      "A publish that nobody is subscribed to is only counted, and makes no dead letter.")

#define TRP_OPTION_TABLE_RUNTIME(X)                                                                \
    X("dispatchers.threads", U32, node.dispatchers, "0", 0, 120, "",                               \
      "Threads that run actors of the group `default`; 0: one a processor.")                       \
    X("dispatchers.groups", MAP, node.groups, "", 0, 0, "",                                        \
      "Further groups of dispatchers, each a name and a count of threads, such as blocking: 4.")   \
    X("dispatchers.pin", BOOL, node.pin_threads, "false", 0, 1, "",                                \
      "Dispatcher i runs on processor i only.")                                                    \
    X("dispatchers.throughput", U32, node.throughput, "64", 1, 1000000, "",                        \
      "Messages that an actor may handle before others have their turn.")                          \
    X("dispatchers.slice_us", U32, node.slice_us, "1000", 10, 10000000, "",                        \
      "Time that an actor may take before others have their turn.")                                \
    X("dispatchers.slow_receive_ms", U32, node.slow_receive_ms, "200", 1, TRP_OPTION_MS_MAX, "",   \
      "A receive that takes longer is reported with its actor's path.")                            \
    X("offload.threads", U32, node.offload_threads, "4", 1, 1024, "",                              \
      "Threads for blocking work.")                                                                \
    X("offload.queue_len_max", U32, node.offload_queue_len_max, "4096", 1, 100000000, "",          \
      "Pieces of blocking work that may wait.")                                                    \
    X("limits.memory", SIZE, node.memory_size_max, "1GiB", 1048576, TRP_OPTION_SIZE_MAX, "",       \
      "The node's ceiling for message memory; above it sends fail.")                               \
    X("link.stall_ms", U32, node.link_stall_ms, "2000", 10, TRP_OPTION_MS_MAX, "",                 \
      "A peer that grants no credit for so long no longer slows its senders; messages for it are " \
      "dropped and counted.")                                                                      \
    X("link.window", SIZE, node.link_window, "512KiB", 65536, 1073741824, "",                      \
      "Bytes that may be under way to one peer before it must have taken some.")                   \
    X("link.queue_size", SIZE, node.link_queue_size_max, "16MiB", 65536, 4294967295, "",           \
      "Bytes that may wait for one peer; what is beyond is dropped and counted.")                  \
    X("link.connections_max", U32, node.link_connections_max, "0", 0, 65536, "",                   \
      "Connections from other nodes at a time; 0: as many as the descriptor limit allows.")

#define TRP_OPTION_TABLE_PROGRAM(X)                                                                \
    X("admin.socket", PATH, node.admin_socket, "", 0, 0, "",                                       \
      "Unix socket for the command line, mode 0600. `troupe node` uses a path of its own when "    \
      "none is given; `none` switches it off.")                                                    \
    X("admin.clients_max", U32, node.admin_clients_max, "16", 1, 256, "",                          \
      "Connections to the admin socket at a time.")                                                \
    X("log.level", ENUM, node.log_level, "info", 0, 0, "trace|debug|info|warn|error|off",          \
      "Records below this level are left out.")                                                    \
    X("log.levels", MAP, node.log_levels, "", 0, 0, "",                                            \
      "Other levels for some rooms (base, actor, link, gateway, cluster, pubsub, node, ...), "     \
      "such as link: debug.")                                                                      \
    X("log.format", ENUM, log_format, "text", 0, 0, "text|json",                                   \
      "How `troupe node` writes its log: text, or one JSON object a line.")                        \
    X("log.file", PATH, log_file, "", 0, 0, "",                                                    \
      "File to which `troupe node` appends its log; without it standard error.")

#endif
