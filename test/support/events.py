"""Reads event files of TensorBoard without its packages: records of TFRecord files, of which each is
an Event (tensorflow/core/util/event.proto)."""

import struct


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(data):
    """The contents of all records; an error names the first that is damaged."""
    at = 0
    while at < len(data):
        length = data[at:at + 8]
        size, = struct.unpack("<Q", length)
        content = data[at + 12:at + 12 + size]
        sums = struct.unpack("<I", data[at + 8:at + 12]) + struct.unpack(
            "<I", data[at + 12 + size:at + 16 + size])
        assert sums == (masked(length), masked(content)), f"checksums of the record at {at}"
        yield content
        at += 16 + size


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """Number and value of each field of a message: numbers, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size, form = {1: (8, "<d"), 5: (4, "<f")}[kind]
            value, = struct.unpack(form, data[at:at + size])
            at += size
        yield key >> 3, value


def events(path):
    """Dictionaries with wall_time, step, and version, status or values of each event."""
    names = {1: "wall_time", 2: "step", 3: "version", 5: "values", 7: "status"}
    for record in records(path.read_bytes()):
        event = {names[number]: value for number, value in fields(record)}
        if "values" in event:
            values = [dict(fields(value)) for _, value in fields(event["values"])]
            event["values"] = {value[1].decode(): value[2] for value in values}
        if "status" in event:
            event["status"] = dict(fields(event["status"]))[1]
        yield event
