//! Which addresses are of the public internet: all others may lead to the machine itself, its
//! network, or the service that hands out a cloud machine's keys.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public internet, by IANA's registries of special addresses.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    let is_special = match (a, b, c) {
        // This network, private ones, the machine itself, a link, a network within.
        (0 | 10 | 127, ..) | (192, 168, _) | (169, 254, _) | (172, 16..=31, _) => true,
        // A provider's own network, protocols, documentation, relays of 6to4, benchmarks.
        (100, 64..=127, _) | (192, 0, 0 | 2) | (192, 88, 99) | (198, 18..=19, _) => true,
        (198, 51, 100) | (203, 0, 113) => true,
        // Many at once, and what is reserved.
        (224..=255, ..) => true,
        // Azure's service for its machines has a public address.
        (168, 63, 129) => d == 16,
        _ => false,
    };
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [_, _, _, _, _, _, high, low] = segments;
    let within = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // An IPv4 address in another form: mapped, translated, or tunnelled.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => within(high, low),
        [0x2002, high, low, ..] => within(high, low),
        // Teredo, protocols, documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // What is not given out for the public is all but an eighth.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is_expected: bool, addresses: &str) {
        for address in addresses.split_whitespace() {
            assert_eq!(is_public(address.parse().unwrap()), is_expected, "{address}");
        }
    }

    #[test]
    fn what_is_not_public_is_told_in_every_form() {
        check(
            false,
            "0.0.0.0 10.1.2.3 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 172.31.255.255",
        );
        check(false, "192.168.0.1 100.64.0.1 100.100.100.200 192.0.0.1 192.0.2.1 192.88.99.1");
        check(false, "198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255");
        check(false, "168.63.129.16");
        check(false, ":: ::1 fe80::1 fec0::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 2001::1");
        check(false, "::ffff:127.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::10.0.0.1");
        check(false, "64:ff9b:1::1 2002:7f00:1::1 2002:a9fe:a9fe::1 3fff::1 100::1 5f00::1");
    }

    #[test]
    fn what_is_public_may_be_reached() {
        check(true, "1.1.1.1 8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1");
        check(true, "168.63.129.15 192.0.1.1 198.17.0.1 198.20.0.1 223.255.255.255");
        check(true, "2606:4700:4700::1111 2001:4860:4860::8888 ::ffff:1.1.1.1 64:ff9b::1.1.1.1");
        check(true, "2002:101:101::1 2a00:1450::1");
    }
}
