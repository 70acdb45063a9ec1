//! Takes out of a text what its URLs carry besides scheme, host and port: API keys live there, and the
//! messages of RPC clients quote whole URLs.

/// `text` with every URL cut after its host and port.
pub(crate) fn redact(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let (before, url) = rest.split_at(start + 3);
        let (url, after) = url.split_at(url.find(ends_url).unwrap_or(url.len()));
        let (url, punctuation) = url.split_at(url.trim_end_matches(PUNCTUATION).len());
        let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
        shown.push_str(before);
        shown.push_str(authority.rsplit('@').next().unwrap_or_default());
        shown.push_str(punctuation);
        rest = after;
    }
    shown + rest
}

/// What no URL has unescaped. Anything else may be part of a key.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"<>".contains(c)
}

/// What text puts after a URL.
const PUNCTUATION: [char; 8] = [')', ']', '}', ':', ',', ';', '\'', '\\'];

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn of_a_url_the_host_is_left() {
        let cases = [
            ("no URL at all", "no URL at all"),
            ("url (https://rpc.test/v2/KEY): refused", "url (https://rpc.test): refused"),
            ("https://user:KEY@rpc.test:8443?k=KEY#KEY, again", "https://rpc.test:8443, again"),
            ("url: \"http://127.0.0.1:1/KEY\", a://b/KEY", "url: \"http://127.0.0.1:1\", a://b"),
            ("https://rpc.test/KEY,KEY(KEY)KEY", "https://rpc.test"),
            ("url: \\\"https://[::1]:8545/KEY\\\"}", "url: \\\"https://[::1]:8545\\\"}"),
            ("://", "://"),
        ];
        for (text, shown) in cases {
            assert_eq!(redact(text), shown);
        }
    }
}
