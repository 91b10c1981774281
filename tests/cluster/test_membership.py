#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

"""Membership with real processes on loopback: joining, dying, coming back, pausing, leaving.

Each case starts its own nodes with the command line of the environment (TROUPE_TOOL) and looks at them
through `troupe members --json`. Arguments select cases by a part of their names."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOOL = os.environ["TROUPE_TOOL"]
SLOWNESS = float(os.environ.get("TROUPE_TEST_SLOW", "1"))
FULL = bool(os.environ.get("TROUPE_TEST_FULL"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node:
    """One process; it may be started again at the same address."""

    def __init__(self, folder, index, ports, **options):
        self.folder = folder
        self.index = index
        self.port = ports[index]
        self.seeds = options.pop("seeds", None) or [f"127.0.0.1:{port}" for port in ports]
        self.options = options
        self.process = None
        self.starts = 0

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def admin(self):
        return f"{self.folder}/n{self.index}.sock"

    def start(self):
        self.starts += 1
        flags = [f"--node.bind={self.address}", f"--cluster.seeds={','.join(self.seeds)}",
                 f"--admin.socket={self.admin}"]
        flags += [f"--{key}={value}" for key, value in self.options.items()]
        log = open(f"{self.folder}/n{self.index}.{self.starts}.log", "wb")
        with log:
            self.process = subprocess.Popen([TOOL, "node", *flags], stdout=log, stderr=log)
        return self

    def members(self):
        """{address: (uid, state, reachable)}; empty when the node doesn't answer."""
        try:
            done = subprocess.run([TOOL, "members", "--json", "--socket", self.admin],
                                  capture_output=True, timeout=10, check=False)
            rows = json.loads(done.stdout)
        except (subprocess.TimeoutExpired, ValueError):
            return {}
        if isinstance(rows, dict):
            rows = rows.get("members", [])
        return {row["address"]: (row["uid"], row["state"], row["reachable"]) for row in rows}

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()

    def log(self):
        text = []
        for start in range(1, self.starts + 1):
            with open(f"{self.folder}/n{self.index}.{start}.log", encoding="utf-8",
                      errors="replace") as log:
                text.append(log.read())
        return "".join(text)


class Fleet:
    def __init__(self, count, **options):
        self.folder = tempfile.mkdtemp(prefix="troupe-membership-")
        ports = [free_port() for _ in range(count)]
        self.nodes = [Node(self.folder, index, ports, **options) for index in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for node in self.nodes:
            node.end()
        if kind is not None:
            for node in self.nodes:
                print(f"--- node {node.index}\n{node.log()[-6000:]}")
        shutil.rmtree(self.folder)

    def __getitem__(self, index):
        return self.nodes[index]

    def start(self):
        for node in self.nodes:
            node.start()
        return self


def are_whole(nodes):
    """All of them see exactly each other, up and reachable."""
    wanted = {node.address for node in nodes}
    views = [node.members() for node in nodes]
    for view in views:
        if set(view) != wanted or view != views[0]:
            return False
        if any(row[1:] != ("up", "yes") for row in view.values()):
            return False
    return True


def wait(seconds, what, condition):
    deadline = time.monotonic() + seconds * SLOWNESS
    while time.monotonic() < deadline:
        if condition():
            return time.monotonic()
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


# ---- cases --------------------------------------------------------------------------------------------


def three_nodes_join():
    with Fleet(3) as fleet:
        fleet.start()
        wait(10, "three members", lambda: are_whole(fleet.nodes))


def a_node_killed_and_restarted_at_its_port_is_back_within_ten_seconds():
    with Fleet(3) as fleet:
        fleet.start()
        wait(10, "three members", lambda: are_whole(fleet.nodes))
        for turn in range(50 if FULL else 20):
            node = fleet[turn % 3]
            node.kill()
            node.start()
            wait(10, f"node {node.index} is back, turn {turn}", lambda: are_whole(fleet.nodes))


def pauses_of_two_seconds_remove_nobody():
    with Fleet(3) as fleet:
        fleet.start()
        wait(10, "three members", lambda: are_whole(fleet.nodes))
        before = fleet[0].members()
        for _ in range(5 if FULL else 2):
            fleet[2].signal(signal.SIGSTOP)
            time.sleep(2)
            fleet[2].signal(signal.SIGCONT)
            time.sleep(4)
        wait(10, "three members", lambda: are_whole(fleet.nodes))
        assert fleet[0].members() == before, "somebody was removed"


def a_node_paused_for_long_comes_back_with_a_new_uid():
    with Fleet(3) as fleet:
        fleet.start()
        wait(10, "three members", lambda: are_whole(fleet.nodes))
        before = fleet[0].members()[fleet[2].address][0]
        fleet[2].signal(signal.SIGSTOP)
        wait(15, "it is removed", lambda: are_whole(fleet.nodes[:2]))
        fleet[2].signal(signal.SIGCONT)
        wait(20, "it is back", lambda: are_whole(fleet.nodes))
        assert fleet[0].members()[fleet[2].address][0] != before, "the uid is the old one"


def a_node_that_is_told_to_end_leaves():
    with Fleet(3) as fleet:
        fleet.start()
        wait(10, "three members", lambda: are_whole(fleet.nodes))
        fleet[1].signal(signal.SIGTERM)
        wait(3, "two members", lambda: are_whole([fleet[0], fleet[2]]))
        assert fleet[1].process.wait(10) == 0, "it did not end well"
        assert "member_down" not in fleet[0].log(), "it was taken for dead"


def the_seed_may_stop_and_others_still_join():
    with Fleet(4) as fleet:
        for node in fleet.nodes[:3]:
            node.start()
        wait(10, "three members", lambda: are_whole(fleet.nodes[:3]))
        fleet[0].signal(signal.SIGTERM)
        wait(10, "two members", lambda: are_whole(fleet.nodes[1:3]))
        fleet[3].start()
        wait(10, "three members", lambda: are_whole(fleet.nodes[1:]))
        fleet[0].start()
        wait(10, "four members", lambda: are_whole(fleet.nodes))


def nodes_join_within_five_seconds_of_an_absent_seed():
    with Fleet(3) as fleet:
        fleet[1].start()
        fleet[2].start()
        time.sleep(4)
        assert all(row[1] != "up" for row in fleet[1].members().values()), "up without a seed"
        fleet[0].start()
        wait(5, "three members", lambda: are_whole(fleet.nodes))


def a_cluster_killed_as_a_whole_serves_again_within_ten_seconds():
    with Fleet(3) as fleet:
        fleet.start()
        wait(10, "three members", lambda: are_whole(fleet.nodes))
        for node in fleet.nodes:
            node.kill()
        fleet[0].start()
        wait(10, "one member", lambda: are_whole(fleet.nodes[:1]))
        fleet[1].start()
        fleet[2].start()
        wait(10, "three members", lambda: are_whole(fleet.nodes))


def seeds_that_all_restart_find_the_living():
    with Fleet(4) as fleet:
        seeds = [node.address for node in fleet.nodes[:2]]
        for node in fleet.nodes:
            node.seeds = seeds
        fleet.start()
        wait(10, "four members", lambda: are_whole(fleet.nodes))
        before = fleet[3].members()[fleet[3].address][0]
        for node in fleet.nodes[:2]:
            node.kill()
        for node in fleet.nodes[:2]:
            node.start()
        wait(15, "four members", lambda: are_whole(fleet.nodes))
        assert fleet[3].members()[fleet[3].address][0] == before, "the living had to yield"


def a_wrong_cluster_name_is_refused():
    with Fleet(2) as fleet:
        fleet[0].start()
        wait(10, "one member", lambda: are_whole(fleet.nodes[:1]))
        fleet[1].options["cluster.name"] = "other"
        fleet[1].start()
        wait(5, "a refusal in both logs", lambda: "ECLUSTER" in fleet[0].log() and
             "ECLUSTER" in fleet[1].log())
        assert are_whole(fleet.nodes[:1])


CASES = [
    three_nodes_join,
    a_node_killed_and_restarted_at_its_port_is_back_within_ten_seconds,
    pauses_of_two_seconds_remove_nobody,
    a_node_paused_for_long_comes_back_with_a_new_uid,
    a_node_that_is_told_to_end_leaves,
    the_seed_may_stop_and_others_still_join,
    nodes_join_within_five_seconds_of_an_absent_seed,
    a_cluster_killed_as_a_whole_serves_again_within_ten_seconds,
    seeds_that_all_restart_find_the_living,
    a_wrong_cluster_name_is_refused,
]


def main():
    wanted = sys.argv[1:]
    failed = 0
    for case in CASES:
        if wanted and not any(part in case.__name__ for part in wanted):
            continue
        begin = time.monotonic()
        try:
            case()
            print(f"passed  {time.monotonic() - begin:6.1f} s  {case.__name__}", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"FAILED  {time.monotonic() - begin:6.1f} s  {case.__name__}: {error}",
                  flush=True)
    return 1 if failed else 0


sys.exit(main())
