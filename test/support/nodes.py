#!/usr/bin/env python3
"""Nodes on one machine: network namespaces that a switch connects.

usage: nodes.py [--rate=RATE] [--delay=TIME] NODES COMMAND...   # runs COMMAND on node 0
       nodes.py --check                                         # exits with 1 and the reason

Each node has a name of its own, and the address 10.77.0.NUMBER+1 on `eth0`. The switch is a bridge
in a namespace of its own, so nothing of the machine's network changes. Namespaces of an earlier run
that was killed are removed.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PREFIX = "zero-nodes"
NAMESPACES = Path("/run/netns")
# A launcher calls `AGENT [options] ADDRESS WORD...`, like ssh. Options of hydra have no value.
AGENT = """#!/bin/sh
while case $1 in -*) true;; *) false;; esac; do shift; done
node=$((${1##*.} - 1)); shift
exec ip netns exec PREFIX-$node unshare --uts sh -c 'hostname "$0"; eval "$*"' node$node "$@"
"""


def ip(*words):
    result = subprocess.run(["ip", *map(str, words)], text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode != 0:
        raise OSError(f"ip {' '.join(map(str, words))}: {result.stderr.strip()}")
    return result.stdout


def missing():
    """Why there can be no nodes here, or an empty text."""
    for tool in ("ip", "tc", "unshare", "hostname"):
        if not shutil.which(tool):
            return f"there is no '{tool}'"
    try:
        with Nodes(1, rate="1gbit") as nodes:
            return "" if nodes.run(0, ["hostname"]).stdout == "node0\n" else "a node has no name"
    except OSError as error:
        return str(error)


def members(namespace):
    return [int(number) for number in ip("netns", "pids", namespace).split()]


def remove(namespace):
    """Removes a namespace with its processes and links."""
    for _ in range(100):
        left = members(namespace)
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not left:
            break
        time.sleep(0.02)
    ip("netns", "delete", namespace)


def remove_abandoned():
    """Removes what runs left that were killed: a name has the number of its process."""
    for path in NAMESPACES.glob(f"{PREFIX}-*"):
        found = re.fullmatch(rf"{PREFIX}-(\d+)-\w+", path.name)
        if found and not Path(f"/proc/{found[1]}").exists():
            remove(path.name)


class Nodes:
    """`with Nodes(2, rate="1gbit") as nodes:` `rate` limits each direction of each node's link,
    and `delay` is added to each packet that leaves a node."""

    def __init__(self, count, rate="", delay=""):
        self.count, self.rate, self.delay = count, rate, delay
        self.prefix = f"{PREFIX}-{os.getpid()}"
        self.made, self.folder = [], None

    def __enter__(self):
        remove_abandoned()
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for namespace in reversed(self.made):
            remove(namespace)
        self.made.clear()
        if self.folder:
            self.folder.cleanup()

    def add(self, name):
        namespace = f"{self.prefix}-{name}"
        ip("netns", "add", namespace)
        self.made.append(namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
        return namespace

    def make(self):
        switch = self.add("switch")
        ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", switch, "link", "set", "bridge", "up")
        for number in range(self.count):
            node = self.add(number)
            port = f"port{number}"
            ip("-n", node, "link", "add", "eth0", "type", "veth", "peer", port, "netns", switch)
            ip("-n", switch, "link", "set", port, "master", "bridge", "up")
            ip("-n", node, "address", "add", f"{self.address(number)}/24", "dev", "eth0")
            ip("-n", node, "link", "set", "eth0", "up")
            for namespace, device in ((node, "eth0"), (switch, port)):
                self.limit(namespace, device, self.delay if device == "eth0" else "")
        self.folder = tempfile.TemporaryDirectory()
        self.agent = Path(self.folder.name) / "agent"
        self.agent.write_text(AGENT.replace("PREFIX", self.prefix))
        self.agent.chmod(0o755)

    def limit(self, namespace, device, delay):
        parent = ["root"]
        for kind, words in (("netem", ["delay", delay, "limit", "100000"] if delay else []),
                            ("tbf", ["rate", self.rate, "burst", "256kb", "latency", "50ms"]
                             if self.rate else [])):
            if not words:
                continue
            result = subprocess.run(["ip", "netns", "exec", namespace, "tc", "qdisc", "add", "dev", device,
                                     *parent, "handle", f"{len(parent)}:", kind, *words], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if result.returncode != 0:
                raise OSError(f"tc {kind}: {result.stderr.strip()}")
            parent = ["parent", "1:1"]

    @staticmethod
    def address(number):
        return f"10.77.0.{number + 1}"

    def command(self, node, words):
        """`words`, to be run on `node`."""
        return ["ip", "netns", "exec", f"{self.prefix}-{node}", "unshare", "--uts", "sh", "-c",
                'hostname "$0"; exec "$@"', f"node{node}", *map(str, words)]

    def run(self, node, words, timeout=300, **options):
        return subprocess.run(self.command(node, words), text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def launcher(self, mpi, processes):
        """The words before a program that `mpi` runs as processes[n] processes of each node n, on node 0."""
        hosts = ",".join(f"{self.address(node)}:{count}" for node, count in enumerate(processes))
        if mpi == "openmpi":
            return ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                    "--host", hosts, "-n", sum(processes),
                    *mca("plm_rsh_agent", self.agent), *mca("oob_tcp_if_include", "eth0"),
                    *mca("btl_tcp_if_include", "eth0"), *mca("btl", "tcp,self"), *mca("pml", "ob1"),
                    *mca("plm_rsh_no_tree_spawn", 1), *mca("odls_base_sigkill_timeout", 0)]
        return ["mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", self.agent, "-localhost",
                self.address(0), "-hosts", hosts, "-n", sum(processes),
                "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0"]

    def sent(self, node):
        """Bytes that have left a node so far, as counted by the kernel."""
        return int(self.run(node, ["cat", "/sys/class/net/eth0/statistics/tx_bytes"]).stdout)

    def cut(self, node):
        """Takes a node off the network, without a word to its processes."""
        ip("-n", f"{self.prefix}-switch", "link", "set", f"port{node}", "down")

    def processes(self):
        """Those that run on the nodes."""
        return [process for namespace in self.made for process in members(namespace)]


def mca(name, value):
    return ["--mca", name, value]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", default="")
    parser.add_argument("--delay", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("nodes", type=int, nargs="?")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    flags = parser.parse_args()
    if flags.check:
        sys.exit(missing() or 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with Nodes(flags.nodes, flags.rate, flags.delay) as nodes:
        return subprocess.run(nodes.command(0, flags.command)).returncode


if __name__ == "__main__":
    sys.exit(main())
