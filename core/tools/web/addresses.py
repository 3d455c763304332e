"""Which addresses lie on the public internet: everything is refused that is not provably one of them.

Sources: the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its updates) and the IPv6 global
unicast assignment (2000::/3, RFC 4291). Cloud metadata services that answer on public addresses are listed by hand.
"""

from __future__ import annotations

import ipaddress
import re

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_REFUSED_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; Alibaba's metadata service
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local; the metadata service of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocol assignments; Oracle's metadata service
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "168.63.129.16/32",  # Azure's wire server
    )
)
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # IETF protocol assignments: Teredo, ORCHID, benchmarks …
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address inside
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_ISATAP = (0x00005EFE, 0x02005EFE)
"""First half of an interface identifier that holds an IPv4 address (RFC 5214 section 6.1)."""
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]*|[0-9]+)")


def is_public(address: Address) -> bool:
    """Return whether an address is provably one of the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    if address.scope_id or address not in _GLOBAL_6 or any(address in network for network in _REFUSED_6):
        return False
    interface = int(address) & (2**64 - 1)
    return interface >> 32 not in _ISATAP


def ends_in_number(host: str) -> bool:
    """Return whether a host's last label is a number, so that the host must be an IPv4 address (WHATWG URL 3.5)."""
    return _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]) is not None


def parse_ipv4(host: str) -> ipaddress.IPv4Address:
    """Return the address that a host stands for in the forms of inet_aton: decimal, octal, hexadecimal, 1 to 4 parts.

    Raises:
        ValueError: it is none.
    """
    parts = host.removesuffix(".").split(".")
    if len(parts) > 4:
        raise ValueError("more than four parts")
    numbers = [_parse_number(part) for part in parts]
    *firsts, last = numbers
    if any(number > 255 for number in firsts) or last >= 256 ** (5 - len(numbers)):
        raise ValueError("a part is too large")
    return ipaddress.IPv4Address(last + sum(number << (8 * (3 - index)) for index, number in enumerate(firsts)))


def _parse_number(text: str) -> int:
    if not _NUMBER.fullmatch(text) or len(text) > 20:
        raise ValueError("a part is no number")
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)
