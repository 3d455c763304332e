"""URLs that may be fetched: what they name is made plain first, and judged before any connection is made."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import unicodedata
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.tools.web.addresses import Address, ends_in_number, is_public, parse_ipv4

MAX_URL = 8_192
Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Returns the addresses of a host name for a port; raises `OSError` where there are none."""

_PORTS = {"http": 80, "https": 443}
_LOCAL_SUFFIXES = (
    ".localhost",
    ".local",
    ".localdomain",
    ".internal",
    ".intranet",
    ".private",
    ".corp",
    ".home",
    ".lan",
    ".home.arpa",
    ".test",
    ".invalid",
    ".example",
    ".onion",
    ".alt",
)
"""Names that never mean a public host (RFC 6761, 6762, 7686, 8375, 9476; the others by custom)."""
_ADDRESS_NAMES = (".nip.io", ".sslip.io", ".xip.io", ".localtest.me", ".lvh.me", ".vcap.me", ".lacolhost.com")
"""Names that mean the address that they spell, or this machine."""
_REFUSED_PORTS = frozenset(
    (1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 10080)  # Fetch standard, "port blocking"
    + tuple(range(6665, 6670))
    + (6679, 6697)
    + (1433, 1521, 2375, 2376, 2379, 3306, 5432, 5984, 6379, 8500, 9042, 9200, 11211, 27017)  # databases and control
)
_ODD = re.compile(r"[\x00-\x20\x7f\\]")
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")


@dataclass(frozen=True, slots=True)
class Target:
    """A URL in its plain form."""

    url: str
    """As it is fetched and shown: ASCII host, no user information, no fragment."""
    scheme: str
    host: str
    """Lower case, ASCII, without brackets; an address in its usual form."""
    port: int
    address: Address | None
    """Where the host is an address."""

    @property
    def place(self) -> str:
        """`host:port`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.place}"


class AllowedHosts:
    """Hosts that may be fetched from although they are not public: a setting of the user's.

    Args:
        entries: `HOST:PORT`, or `HOST` for the ports 80 and 443; a host name or an address, no pattern.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._places: set[str] = set()
        for entry in entries:
            for scheme in _PORTS:
                try:
                    self._places.add(parse_url(f"{scheme}://{entry}/").place)
                except ToolFailure:
                    continue  # what is no host allows nothing

    def __contains__(self, target: Target) -> bool:
        return target.place in self._places


def parse_url(text: str) -> Target:
    """Return the plain form of a URL.

    Raises:
        ToolFailure: it is none of http or https, or one that programs read in different ways.
    """
    shown = make_visible_line(text[:200])
    url = text.strip(" ")
    if len(url) > MAX_URL or _ODD.search(url):
        raise _bad(f'Malformed URL detected: "{shown}".')
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        if scheme not in _PORTS:
            raise _bad(f'Unsupported protocol in URL: "{shown}". Only http and https are supported.')
        port = parts.port if parts.port is not None else _PORTS[scheme]
        given = parts.hostname or ""
    except ValueError:
        raise _bad(f'Malformed URL detected: "{shown}".') from None
    if not given or not port or not url[len(scheme) + 1 :].startswith("//"):
        raise _bad(f'Malformed URL detected: "{shown}".')
    if parts.username is not None or parts.password is not None:
        raise _bad(f'The URL holds a user name or password: "{shown}".', "Leave out what stands before the @.")
    host, address = _plain_host(given, "[" in parts.netloc, shown)
    netloc = f"[{host}]" if ":" in host else host
    if port != _PORTS[scheme]:
        netloc += f":{port}"
    return Target(urlunsplit((scheme, netloc, parts.path or "/", parts.query, "")), scheme, host, port, address)


def _plain_host(given: str, is_bracketed: bool, shown: str) -> tuple[str, Address | None]:
    if is_bracketed:
        try:
            address = ipaddress.IPv6Address(given)
        except ValueError:
            raise _bad(f'Malformed URL detected: "{shown}".') from None
        mapped = address.ipv4_mapped
        return (str(mapped), mapped) if mapped else (str(address), address)
    host = _ascii_host(unquote(given), shown).removesuffix(".")
    if ends_in_number(host):
        try:
            number = parse_ipv4(host)
        except ValueError:
            raise _bad(f'Malformed URL detected: "{shown}".') from None
        return str(number), number
    return host, None


def _ascii_host(host: str, shown: str) -> str:
    host = unicodedata.normalize("NFKC", host).lower()
    if not host.isascii():
        import idna  # late: hardly any host needs it

        try:
            host = idna.encode(host, uts46=True, transitional=False).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            raise _bad(f'Malformed URL detected: "{shown}".') from None
    if len(host) > 253 or not _HOST.fullmatch(host):
        raise _bad(f'Malformed URL detected: "{shown}".')
    return host


def check_target(target: Target) -> None:
    """Refuse what can't be public, as far as the URL alone tells.

    Raises:
        ToolFailure: web_fetch_private_address.
    """
    if target.address is not None and not is_public(target.address):
        raise _private(target, f"{target.address} is no public address")
    if target.address is None and ("." not in target.host or f".{target.host}".endswith(_LOCAL_SUFFIXES)):
        raise _private(target, "it is a name of a local network")
    if f".{target.host}".endswith(_ADDRESS_NAMES):
        raise _private(target, "its name stands for an address, and mostly a local one")
    if target.port in _REFUSED_PORTS or (target.port < 1024 and target.port not in _PORTS.values()):
        raise _private(target, f"port {target.port} is not one of the web")


async def checked_addresses(target: Target, resolve: Resolve) -> list[str]:
    """Return the addresses to connect to, all of them public.

    Raises:
        ToolFailure: one of them is not, or there is none.
    """
    check_target(target)
    addresses = await resolved(target, resolve)
    for address in addresses:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            raise _private(target, "its address can't be read") from None
        if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
            parsed = parsed.ipv4_mapped
        if not is_public(parsed):
            raise _private(target, f"its name leads to {parsed}, which is no public address")
    return addresses


async def resolved(target: Target, resolve: Resolve) -> list[str]:
    """Return the addresses of a target, unchecked.

    Raises:
        ToolFailure: its name has none.
    """
    if target.address is not None:
        return [str(target.address)]
    try:
        addresses = await resolve(target.host, target.port)
    except (OSError, UnicodeError):
        addresses = []
    if not addresses:
        raise ToolFailure(
            ToolErrorType.WEB_FETCH_PROCESSING_ERROR,
            f"The host {target.host} could not be found.",
            "Check its name and the network.",
        )
    return addresses


async def resolve_by_system(host: str, port: int) -> list[str]:
    """Return what the system's resolver says, without doubles."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _bad(message: str, hint: str = "") -> ToolFailure:
    return ToolFailure(ToolErrorType.INVALID_TOOL_PARAMS, message, hint)


def _private(target: Target, why: str) -> ToolFailure:
    return ToolFailure(
        ToolErrorType.WEB_FETCH_PRIVATE_ADDRESS,
        f"{make_visible_line(target.url[:200])} is not fetched: {why}.",
        f'The user can allow it with the setting tools.web_fetch.allowed_hosts = ["{target.place}"].',
    )
