//! A URL as the HTTP client will read it: natively by the `url` crate, which reqwest uses, and on WASM by the host's
//! own `URL`, which its `fetch` uses. With another parser, what was checked could differ from what is connected to.

use super::imp;

/// An absolute URL.
#[derive(Clone)]
pub(crate) struct RpcUrl {
    /// In canonical text, secrets included.
    pub(crate) href: String,
    /// Without the colon.
    pub(crate) scheme: String,
    /// The host without its port; empty where the scheme has none.
    pub(crate) host: String,
    /// The host, and the port if it is not the scheme's own.
    pub(crate) host_and_port: String,
}

impl RpcUrl {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        imp::parse_url(text)
    }

    /// Whether it names this machine. The parser has written IPv4 addresses as four numbers, and has refused names
    /// that end in a number.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host.as_str();
        let ipv4 = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        host == "localhost"
            || host.ends_with(".localhost")
            || host == "[::1]"
            || host.strip_prefix("127.").is_some_and(ipv4)
    }
}

#[cfg(test)]
mod tests {
    use super::RpcUrl;

    #[test]
    fn this_machine_in_all_its_spellings() {
        let is_loopback = |host: &str| RpcUrl::parse(&format!("http://{host}/")).unwrap().is_loopback();
        for host in
            ["localhost", "LOCALHOST:8545", "a.localhost", "127.0.0.1", "127.1", "0x7f.1", "127.255.0.9:1", "[::1]"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "localhost.test",
            "notlocalhost",
            "127.example",
            "127.0.0.example",
            "128.0.0.1",
            "[::2]",
            "[::ffff:7f00:1]",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn what_is_shown_has_no_secrets() {
        let url = RpcUrl::parse("HTTPS://user:key@RPC.example:443/v2/key?key#key").unwrap();
        assert_eq!((url.scheme.as_str(), url.host_and_port.as_str()), ("https", "rpc.example"));
        assert_eq!(RpcUrl::parse("http://rpc.example:8080").unwrap().host_and_port, "rpc.example:8080");
        assert!(RpcUrl::parse("rpc.example").is_none());
    }
}
