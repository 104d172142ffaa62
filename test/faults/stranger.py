"""A user who is not one of a job. Prints a line when it has begun, and others when something worked.

usage: stranger.py stand_in HOST PORT                   # listens where process 0 should
       stranger.py keep_name NAME 0                     # the same at a local socket
       stranger.py intrude HOST-OR-NAME PORT JOB VERSION  # connects to process 0 all the time
"""

import os
import random
import socket
import struct
import sys
import time

MESSAGE = struct.Struct("<IiiIQQ")  # MessageHeader in runtime/processes/message.h
HELLO, WELCOME, REFUSED, CONFIRM, ADMITTED = 1, 2, 3, 4, 5


def text(value):
    return struct.pack("<Q", len(value)) + value


def name(about):
    return text(about) + text(b"host") + struct.pack("<Q", 1)


def message(kind, body, code=0):
    return MESSAGE.pack(kind, 0, 0, code, magic(), len(body)) + body


def magic():
    return struct.unpack("<Q", b"ZEROCTL1")[0]


def hello(job, version, process):
    return message(HELLO, text(version) + text(job) + struct.pack("<QQ", process, 2) + name(b"rank 1")
                   + text(os.urandom(32)), code=2)


def receive(connection):
    header = b""
    while len(header) < MESSAGE.size:
        part = connection.recv(MESSAGE.size - len(header))
        if not part:
            return None, b""
        header += part
    kind, _, _, _, _, count = MESSAGE.unpack(header)
    body = b""
    while len(body) < count:
        part = connection.recv(count - len(body))
        if not part:
            return None, b""
        body += part
    return kind, body


def stand_in(host, port):
    """Listens where process 0 should, and gives a welcome without knowing the secret."""
    listener = socket.create_server((host, port))
    print("listens", flush=True)
    while True:
        connection, _ = listener.accept()
        connection.settimeout(2)
        try:
            receive(connection)
            connection.sendall(message(WELCOME, name(b"rank 0") + text(os.urandom(32)) + text(os.urandom(32))))
            kind, _ = receive(connection)
            print(f"got {kind}", flush=True)
        except OSError:
            pass


def keep_name(address, _):
    """Listens at the local address of the job, whose name can be computed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0" + address)
    listener.listen()
    print("listens", flush=True)
    while True:
        listener.accept()


def family_of(address, port):
    if port:
        return socket.AF_INET, (address, port)
    return socket.AF_UNIX, "\0" + address


def intrude(address, port, job, version):
    """Says Hellos of the job, whole and mutated, with confirmations that prove nothing; and holds
    connections that say nothing."""
    family, where = family_of(address, port)
    silent, sessions = [], 0
    random.seed(1)
    print("begins", flush=True)
    while True:
        connection = socket.socket(family)
        connection.settimeout(1)
        try:
            connection.connect(where)
            sessions += 1
            if sessions % 500 == 0:
                print(f"{sessions} sessions", flush=True)
            words = bytearray(hello(job, version, 1))
            for _ in range(random.randrange(3)):
                words[random.randrange(len(words))] ^= 1 << random.randrange(8)
            if len(silent) < 700 and sessions % 3 == 0:
                silent.append(connection)
                continue
            connection.sendall(words + message(CONFIRM, os.urandom(32)))
            if sessions % 10 == 0:
                if ADMITTED in [receive(connection)[0], receive(connection)[0]]:
                    print("admitted", flush=True)
        except OSError:
            time.sleep(0.001)
        connection.close()


def main():
    action, address, port, *words = sys.argv[1:]
    {"stand_in": stand_in, "keep_name": keep_name, "intrude": intrude}[action](
        address, int(port), *(word.encode() for word in words))


if __name__ == "__main__":
    main()
