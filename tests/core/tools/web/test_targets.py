"""What may be fetched, decided from the URL and from the addresses that its name leads to."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.errors import ToolErrorType, ToolFailure
from core.tools.web.addresses import is_public, parse_ipv4
from core.tools.web.targets import AllowedHosts, check_target, checked_addresses, parse_url

pytestmark = pytest.mark.anyio


def judge(url: str) -> str:
    try:
        check_target(parse_url(url))
    except ToolFailure:
        return "block"
    return "allow"


def test_every_case(cases: Path) -> None:
    found = json.loads((cases / "ssrf.json").read_text(encoding="utf-8"))
    wrong = [(case["url"], case["why"]) for case in found if judge(case["url"]) != case["expect"]]
    assert wrong == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.1/",
        "http://0177.1/",
        "http://0x7f.1/",
        "http://%31%32%37.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1%25eth0]/",
        "http://[2001:4860::5efe:127.0.0.1]/",
        "http://[3fff::1]/",
        "http://[v1.a]/",
        "http://localhost./",
        "http://a.localhost/",
        "http://printer/",
        "http://box.lan/",
        "http://x.test/",
        "http://foo.0x/",
        "http://1.2.3.4.5/",
        "http://user:pass@example.com/",
        "http://exa mple.com/",
        "http://example.com:0/",
        "http://example.com:99999/",
        "http://example.com:22/",
        "http://example.com:6379/",
        "http://-x.example.com/",
        "https://" + "a" * 9000,
        "gopher://example.com/",
        "//example.com/",
        "example.com",
        "",
    ],
)
def test_more_that_is_refused(url: str) -> None:
    assert judge(url) == "block"


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://EXAMPLE.com:443/x?y#z", "https://example.com/x?y"),
        ("http://example.com.", "http://example.com/"),
        ("https://münchen.de/", "https://xn--mnchen-3ya.de/"),
        ("http://0x08.8.2056/", "http://8.8.8.8/"),
        ("http://[2606:4700::1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("http://[::ffff:8.8.8.8]/", "http://8.8.8.8/"),
    ],
)
def test_the_plain_form_is_what_is_fetched(url: str, plain: str) -> None:
    target = parse_url(url)
    check_target(target)
    assert target.url == plain


@given(st.integers(0, 2**32 - 1))
def test_an_address_means_the_same_in_every_form(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    first, *rest = str(address).split(".")
    for form in (
        str(number),
        hex(number),
        f"0{number:o}",
        f"{int(first):#x}.{number & 0xFFFFFF}",
        ".".join([first, *rest]),
    ):
        assert parse_ipv4(form) == address
    assert is_public(address) <= address.is_global  # never more lenient than the standard library


@given(st.integers(0, 2**128 - 1))
def test_no_ipv6_address_beyond_global_unicast_is_public(number: int) -> None:
    address = ipaddress.IPv6Address(number)
    assert not is_public(address) or (address.is_global and number >> 125 == 1)


@given(st.text(max_size=60))
def test_any_text_is_judged_without_a_crash(text: str) -> None:
    assert judge(text) in ("allow", "block")
    assert judge(f"http://{text}") in ("allow", "block")


async def test_a_name_that_leads_inside_is_refused_even_if_only_one_address_does() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "127.0.0.1"]

    with pytest.raises(ToolFailure, match=r"leads to 127\.0\.0\.1") as caught:
        await checked_addresses(parse_url("http://example.com/"), resolve)
    assert caught.value.type is ToolErrorType.WEB_FETCH_PRIVATE_ADDRESS
    assert 'allowed_hosts = ["example.com:80"]' in caught.value.hint


async def test_scoped_and_mapped_answers_of_the_resolver() -> None:
    for answer in ("fe80::1%eth0", "::ffff:10.0.0.1", "nonsense", "0.0.0.0"):

        async def resolve(host: str, port: int, answer: str = answer) -> list[str]:
            return [answer]

        with pytest.raises(ToolFailure):
            await checked_addresses(parse_url("http://example.com/"), resolve)


def test_an_allowed_host_is_a_host_and_a_port() -> None:
    allowed = AllowedHosts(["localhost:3000", "box.lan", "[::1]:8000", "no good", "10.0.0.1:81"])
    for url in (
        "http://LOCALHOST:3000/x",
        "http://box.lan/",
        "https://box.lan/",
        "http://[::1]:8000/",
        "http://10.1:81/",
    ):
        assert parse_url(url) in allowed, url
    for url in ("http://localhost/", "http://localhost:3001/", "http://box.lan:3000/", "http://127.0.0.1:3000/"):
        assert parse_url(url) not in allowed, url
