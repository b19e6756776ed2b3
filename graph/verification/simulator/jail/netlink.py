"""Network interfaces by rtnetlink: a bridge, and for every node a cable to it. Needs no `ip` program.

Numbers are those of linux/rtnetlink.h, linux/if_link.h and linux/veth.h.
"""

from __future__ import annotations

import os
import socket
import struct

RTM_NEWLINK, RTM_NEWADDR = 16, 20
REQUEST_ACK, CREATE = 1 | 4, 0x200 | 0x400
IFLA_IFNAME, IFLA_MASTER, IFLA_LINKINFO, IFLA_NET_NS_PID = 3, 10, 18, 19
INFO_KIND, INFO_DATA, VETH_PEER = 1, 2, 1
IFA_ADDRESS, IFA_LOCAL = 1, 2
UP = 1


def attribute(kind: int, data: bytes) -> bytes:
    size = 4 + len(data)
    return struct.pack("HH", size, kind) + data + b"\0" * (-size % 4)


def link_header(index: int = 0, flags: int = 0) -> bytes:
    return struct.pack("BBHiII", socket.AF_UNSPEC, 0, 0, index, flags, flags)


def send(kind: int, body: bytes, extra: int = 0) -> None:
    """One request, answered. Raises OSError with the kernel's number."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as wire:
        wire.bind((0, 0))
        wire.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST_ACK | extra, 1, 0) + body)
        number = -struct.unpack_from("i", wire.recv(4096), 16)[0]
    if number:
        raise OSError(number, f"netlink: {os.strerror(number)}")


def name(text: str) -> bytes:
    return attribute(IFLA_IFNAME, text.encode() + b"\0")


def add_bridge(bridge: str) -> None:
    info = attribute(IFLA_LINKINFO, attribute(INFO_KIND, b"bridge"))
    send(RTM_NEWLINK, link_header() + name(bridge) + info, CREATE)
    set_up(bridge)


def add_cable(bridge: str, end: str, peer: str, process: int) -> None:
    """A pair of interfaces: `end` on the bridge here, `peer` in the network of that process."""
    other = link_header() + name(peer) + attribute(IFLA_NET_NS_PID, struct.pack("I", process))
    data = attribute(INFO_KIND, b"veth") + attribute(INFO_DATA, attribute(VETH_PEER, other))
    send(RTM_NEWLINK, link_header() + name(end) + attribute(IFLA_LINKINFO, data), CREATE)
    master = attribute(IFLA_MASTER, struct.pack("I", socket.if_nametoindex(bridge)))
    send(RTM_NEWLINK, link_header(socket.if_nametoindex(end)) + master)
    set_up(end)


def set_up(interface: str) -> None:
    send(RTM_NEWLINK, link_header(socket.if_nametoindex(interface), UP))


def add_address(interface: str, address: str, bits: int) -> None:
    packed = socket.inet_aton(address)
    header = struct.pack("BBBBI", socket.AF_INET, bits, 0, 0, socket.if_nametoindex(interface))
    send(RTM_NEWADDR, header + attribute(IFA_LOCAL, packed) + attribute(IFA_ADDRESS, packed), CREATE)
