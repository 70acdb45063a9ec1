//! The configuration: what is accepted, and how what is not is named.

use payroute::{BuildError, Config};
use serde_json::{Value, json};

use crate::support::{BUYER, SOLANA_GENESIS, USDC_BASE};

fn refusal(config: &Value) -> (String, String) {
    let Err(error) = Config::from_json(&config.to_string()) else { panic!("accepted: {config}") };
    (error.path().to_owned(), error.to_string())
}

fn refusal_of(text: &str) -> String {
    Config::from_json(text).unwrap_err().to_string()
}

#[test]
fn the_documents_example_and_the_empty_one_are_accepted() {
    let full = json!({
        "owners": {"eip155": BUYER, "solana": crate::support::BUYER_SVM, "eip155:137": BUYER},
        "networks": {
            "eip155:8453": {
                "rpc": ["https://one.test/v2/key", {"url": "https://two.test", "label": "backup", "priority": 1, "weight": 2}],
                "assets": [{"address": USDC_BASE, "symbol": "USDC", "decimals": 6}],
                "strategy": "ordered",
            },
            "eip155:999999": {"name": "Dev Chain", "rpc": ["http://127.0.0.1:8545", "http://[::1]:1", "http://localhost:2"]},
            "solana:11111111111111111111111111111111": {"rpc": ["https://three.test"]},
        },
        "routing": {"preferNetworks": ["solana:mainnet", "base"], "probeTimeoutMs": 600, "maxEndpointsPerNetwork": 2},
        "policy": {"allowedNetworks": ["eip155:8453"], "allowedAssets": [], "maxAmount": {"USDC": "1.00"}},
        "fees": {"eip155:137": "1000"},
        "health": {"openForMs": 30000},
        "limits": {"requirements": 8},
    });
    for accepted in [full, json!({})] {
        Config::from_json(&accepted.to_string()).unwrap();
    }
}

#[test]
fn what_is_wrong_is_named_by_its_path_and_what_is_accepted() {
    let network = |network: Value| json!({"networks": {"base": network}});
    let rpc = |endpoint: Value| network(json!({"rpc": [endpoint]}));
    let asset = |asset: Value| network(json!({"assets": [asset]}));
    let url = "an https URL; http on loopback or with routing.allowHttp";
    for (config, path, text) in [
        (json!([]), ".", ".: is an array; accepted is an object"),
        (json!({"routing": []}), "routing", "routing: is an array; accepted is an object"),
        (json!({"owner": {}}), "owner", "owner: unknown field `owner`; accepted is one of"),
        (json!({"owners": []}), "owners", "owners: is an array; accepted is an object"),
        (json!({"owners": {"eip155": 5}}), "owners.eip155", "owners.eip155: is a number; accepted is a string"),
        (
            json!({"owners": {"eip155": "0x12"}}),
            "owners.eip155",
            "owners.eip155: is not an address; accepted is 0x and 40",
        ),
        (json!({"owners": {"solana": BUYER}}), "owners.solana", "accepted is a base58 Solana address"),
        (json!({"owners": {"cosmos": BUYER}}), "owners.cosmos", "owners.cosmos: is not a network"),
        (json!({"owners": {"cosmos:hub": BUYER}}), "owners.cosmos:hub", "is of a chain family that cannot be read"),
        (json!({"owners": {"base": BUYER, "eip155:8453": BUYER}}), "owners.eip155:8453", "already listed"),
        (json!({"networks": {"base": {}, "eip155:8453": {}}}), "networks.eip155:8453", "already configured"),
        (json!({"networks": {"Base": {}}}), "networks.Base", "is not a network"),
        (network(json!({"rpcs": []})), "networks.base.rpcs", "unknown field `rpcs`"),
        (network(json!({"rpc": []})), "networks.base.rpc", "has 0 endpoints; accepted is 1 to 64"),
        (
            network(json!({"strategy": "fastest"})),
            "networks.base.strategy",
            "is not a known word; accepted is one of `ordered`, `best-score`",
        ),
        (
            network(json!({"genesisHash": SOLANA_GENESIS})),
            "networks.base.genesisHash",
            "does not belong to the network",
        ),
        (network(json!({"name": "https://x.test/key"})), "networks.base.name", "is not a name"),
        (rpc(json!("base.test")), "networks.base.rpc[0]", url),
        (rpc(json!("not a url")), "networks.base.rpc[0]", "is not a URL"),
        (rpc(json!("ws://base.test")), "networks.base.rpc[0]", url),
        (rpc(json!("http://base.test")), "networks.base.rpc[0]", "is not encrypted"),
        (rpc(json!("http://127.0.0.1.evil.test")), "networks.base.rpc[0]", "is not encrypted"),
        (rpc(json!("https://b\u{430}se.test")), "networks.base.rpc[0]", "a host that is not plain ASCII"),
        (rpc(json!("HTTPS://BASE%D2%8B.test/")), "networks.base.rpc[0]", "a host that is not plain ASCII"),
        (rpc(json!("https:\\\\u:p@BA\tS\u{202e}E.test?x")), "networks.base.rpc[0]", "a host that is not plain ASCII"),
        (rpc(json!({"url": "x"})), "networks.base.rpc[0].url", url),
        (rpc(json!({"label": "x"})), "networks.base.rpc[0]", "has no address; accepted is either a url or a provider"),
        (rpc(json!({"url": "https://x.test", "provider": "p"})), "networks.base.rpc[0]", "has a url and a provider"),
        (rpc(json!({"provider": "https://x.test/key"})), "networks.base.rpc[0].provider", "is not a name"),
        (rpc(json!({"url": "https://x.test", "weight": 0})), "networks.base.rpc[0].weight", "from 1 to 1000"),
        (
            rpc(json!({"url": "https://x.test", "priority": 256})),
            "networks.base.rpc[0].priority",
            "is out of range; accepted is a whole number from 0 to 255",
        ),
        (rpc(json!(5)), "networks.base.rpc[0]", "is a number; accepted is a URL or an object with a url or a provider"),
        (asset(json!({"symbol": "X"})), "networks.base.assets[0]", "missing field `address`"),
        (asset(json!({"address": "USDC"})), "networks.base.assets[0].address", "is not an address"),
        // One digit or one letter's case is wrong: who configured it meant another address.
        (
            json!({"owners": {"eip155": "0x70997970C51812dc3A010C7d01b50e0d17dc79C9"}}),
            "owners.eip155",
            "is not an address: its checksum is wrong",
        ),
        (
            asset(json!({"address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914"})),
            "networks.base.assets[0].address",
            "its checksum is wrong",
        ),
        (
            json!({"policy": {"allowedAssets": ["base/erc20:0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"]}}),
            "policy.allowedAssets[0]",
            "its checksum is wrong",
        ),
        (
            json!({"owners": {"base": format!("0x{}", "0".repeat(40))}}),
            "owners.base",
            "is the zero address, which has no owner; accepted is the address that pays",
        ),
        (json!({"owners": {"solana": "1".repeat(32)}}), "owners.solana", "is the zero address"),
        (
            asset(json!({"address": BUYER, "symbol": "X", "decimals": 6, "name": "X"})),
            "networks.base.assets[0].version",
            "is missing; accepted is both `name` and `version`",
        ),
        (
            asset(json!({"address": BUYER, "symbol": "X", "decimals": 6, "version": "1"})),
            "networks.base.assets[0].name",
            "is missing; accepted is both `name` and `version`",
        ),
        (asset(json!({"address": BUYER, "symbol": "X"})), "networks.base.assets[0].decimals", "is missing"),
        (asset(json!({"address": BUYER, "decimals": 6})), "networks.base.assets[0].symbol", "is missing"),
        (
            asset(json!({"address": BUYER, "symbol": "X", "decimals": 78})),
            "networks.base.assets[0].decimals",
            "from 0 to 77",
        ),
        (json!({"routing": {"preferNetworks": ["nowhere"]}}), "routing.preferNetworks[0]", "is not a network"),
        (
            json!({"routing": {"preferNetworks": ["base", "eip155:8453"]}}),
            "routing.preferNetworks[1]",
            "already listed",
        ),
        (json!({"routing": {"probeTimeoutMs": 0}}), "routing.probeTimeoutMs", "a whole number from 1 to 30000"),
        (
            json!({"routing": {"maxEndpointsPerNetwork": 3}}),
            "routing.maxEndpointsPerNetwork",
            "a whole number from 1 to 2",
        ),
        (
            json!({"policy": {"allowedAssets": ["USDD"]}}),
            "policy.allowedAssets[0]",
            "matches no built-in or configured asset",
        ),
        (
            json!({"policy": {"maxAmount": {"usdc": "1"}}}),
            "policy.maxAmount.usdc",
            "matches no built-in or configured asset",
        ),
        (
            json!({"policy": {"maxAmount": {"USDC": "1,5"}}}),
            "policy.maxAmount.USDC",
            "is not an amount in digits with at most one point; accepted is an amount in token units",
        ),
        (json!({"policy": {"maxAmount": {"USDC": "1.0000001"}}}), "policy.maxAmount.USDC", "more decimal places"),
        (json!({"policy": {"maxAmount": {"USDC": 1}}}), "policy.maxAmount.USDC", "is a number; accepted is a string"),
        (json!({"fees": {"base": "0.1"}}), "fees.base", "atomic units in digits"),
        (json!({"health": {"openForMs": 0}}), "health.openForMs", "a whole number from 1"),
        (json!({"health": {"ewmaAlpha": 1.5}}), "health.ewmaAlpha", "a number above 0, at most 1"),
        (json!({"health": {"failureWindow": 5}}), "health.minimumSamples", "from 1 to failureWindow"),
        (json!({"health": {"idleRetentionMs": 1}}), "health.idleRetentionMs", "milliseconds from openForMs"),
        (json!({"limits": {"bodyBytes": 1_u64 << 40}}), "limits.bodyBytes", "a whole number from 1 to 16777216"),
        (
            network(json!({"assets": [{"address": USDC_BASE}, {"address": USDC_BASE.to_lowercase(), "decimals": 18}]})),
            "networks.base.assets[1]",
            "is listed twice",
        ),
        (
            json!({"networks": {(crate::support::SOLANA): {"assets": [{"address": BUYER}]}}}),
            "networks.solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp.assets[0].address",
            "is not an address",
        ),
        (json!({"limits": {"jsonDepth": 1000}}), "limits.jsonDepth", "from 1 to 120"),
    ] {
        let (got_path, got_text) = refusal(&config);
        assert!(got_path == path && got_text.contains(text), "{config}\n  path {got_path}\n  text {got_text}");
    }
}

#[test]
fn text_that_is_no_document_is_refused() {
    let error = Config::from_json("{\"owners\": not json}").unwrap_err();
    assert_eq!(error.to_string(), ".: is not JSON (line 1, column 13); accepted is one JSON object");
    for text in ["", "null", "{", "{} {}", "{\"owners\":{}}x", "[1]"] {
        assert!(Config::from_json(text).is_err(), "{text:?}");
    }
}

#[test]
fn null_leaves_a_field_unset_where_it_may_be() {
    let rpc = r#"[{"url":"https://base.test","provider":null,"label":null,"maxInFlight":null}]"#;
    let network = format!(r#"{{"name":null,"rpc":{rpc},"assets":[],"strategy":null}}"#);
    Config::from_json(&format!(r#"{{"networks":{{"base":{network}}},"routing":{{"seed":null}}}}"#)).unwrap();
    for (text, said) in [
        (r#"{"routing":null}"#, "routing: is null; accepted is an object"),
        (r#"{"fees":{"base":null}}"#, "fees.base: is null; accepted is a string"),
        (
            r#"{"routing":{"probeTimeoutMs":5.0}}"#,
            "routing.probeTimeoutMs: is a number with a point or an exponent; accepted is a whole number from 1 to 30000",
        ),
        (
            r#"{"routing":{"probeTimeoutMs":-5}}"#,
            "routing.probeTimeoutMs: is out of range; accepted is a whole number from 1 to 30000",
        ),
        (r#"{"routing":{"seed":1,"seed":2}}"#, "routing.seed: duplicate field `seed`; accepted is each field once"),
        (r#"{"owners":{"eip155":"\ud800"}}"#, "owners.eip155: is not valid Unicode text; accepted is a string"),
    ] {
        assert_eq!(Config::from_json(text).unwrap_err().to_string(), said);
    }
}

/// Some of the refusals above, in every form that a document can come in.
#[test]
fn every_format_is_refused_with_the_same_words() {
    for (toml, json, said) in [
        (
            "[networks.base]\nrpc = ['https://x.test', 'ws://x.test']",
            r#"{"networks":{"base":{"rpc":["https://x.test","ws://x.test"]}}}"#,
            "networks.base.rpc[1]: has another scheme; accepted is an https URL; http on loopback or with routing.allowHttp",
        ),
        ("owner = 1", r#"{"owner":1}"#, "owner: unknown field `owner`; accepted is one of `owners`, `networks`, "),
        (
            "[routing]\nseed = -1",
            r#"{"routing":{"seed":-1}}"#,
            "routing.seed: is out of range; accepted is a whole number from 0",
        ),
        (
            "[routing]\nprobeTimeoutMs = 5.0",
            r#"{"routing":{"probeTimeoutMs":5.0}}"#,
            "routing.probeTimeoutMs: is a number with a point or an exponent; accepted is a whole number from 1 to 30000",
        ),
        (
            "[health]\newmaAlpha = -0.2",
            r#"{"health":{"ewmaAlpha":-0.2}}"#,
            "health.ewmaAlpha: is out of range; accepted is a number above 0, at most 1",
        ),
        ("fees = []", r#"{"fees":[]}"#, "fees: is an array; accepted is an object"),
    ] {
        let from_toml = toml::from_str::<Config>(toml).unwrap_err().message().to_owned();
        let from_text = serde_json::from_str::<Config>(json).unwrap_err().to_string();
        let from_value = serde_json::from_value::<Config>(json.parse().unwrap()).unwrap_err().to_string();
        let from_json = json.parse::<Config>().unwrap_err().to_string();
        assert!(from_json.starts_with(said), "{from_json}");
        assert_eq!([&from_toml, &from_text, &from_value], [&from_json; 3]);
    }
}

#[test]
fn every_format_is_read_to_the_same_configuration() {
    let toml = format!(
        "[owners]\neip155 = '{BUYER}'\n[health]\nopenForMs = 9007199254740993\n\
         idleRetentionMs = 9007199254740993\newmaAlpha = 0.3"
    );
    let json = json!({"owners": {"eip155": BUYER}, "health": {"openForMs": 9_007_199_254_740_993_u64, "idleRetentionMs": 9_007_199_254_740_993_u64, "ewmaAlpha": 0.3}});
    let from_json = Config::from_json(&json.to_string()).unwrap();
    for config in [toml::from_str::<Config>(&toml).unwrap(), serde_json::from_value(json).unwrap()] {
        assert_eq!(format!("{config:?}"), format!("{from_json:?}"));
        assert_eq!(config.health(), from_json.health());
        assert_eq!(config.health().open_for_ms, 9_007_199_254_740_993);
    }
}

/// What only some formats can say.
#[test]
fn numbers_that_no_setting_can_be_are_refused_by_name() {
    for (name, accepted) in [
        ("health.ewmaAlpha", "a number above 0, at most 1"),
        ("routing.probeTimeoutMs", "a whole number from 1 to 30000"),
    ] {
        for (number, problem) in [("nan", "is not a number"), ("inf", "is out of range"), ("-inf", "is out of range")] {
            let error = toml::from_str::<Config>(&format!("{name} = {number}")).unwrap_err();
            assert_eq!(error.message(), format!("{name}: {problem}; accepted is {accepted}"));
        }
        let (section, field) = name.split_once('.').unwrap();
        let error = Config::from_json(&format!("{{\"{section}\":{{\"{field}\":1e400}}}}")).unwrap_err();
        assert_eq!(error.to_string(), format!("{name}: is out of range; accepted is {accepted}"));
    }
}

#[test]
fn depth_and_repeated_keys_are_seen_in_every_text() {
    let error = serde_json::from_str::<Config>(r#"{"routing":{"seed":1,"seed":2}}"#).unwrap_err();
    assert_eq!(error.to_string(), "routing.seed: duplicate field `seed`; accepted is each field once");
    for levels in [100, 100_000] {
        let deep = format!(r#"{{"fees":{{"base":{}{}}}}}"#, "[".repeat(levels), "]".repeat(levels));
        let derived = serde_json::from_str::<Config>(&deep).unwrap_err().to_string();
        assert_eq!([refusal_of(&deep), derived], ["fees.base: is an array; accepted is a string"; 2]);
    }
    let kept = r#"{"health":{"openForMs":18446744073709551615,"idleRetentionMs":18446744073709551615}}"#;
    assert_eq!(serde_json::from_str::<Config>(kept).unwrap().health().open_for_ms, u64::MAX);
    assert_eq!(Config::from_json(kept).unwrap().health().open_for_ms, u64::MAX);
}

#[test]
fn plain_http_off_loopback_needs_consent() {
    let networks = json!({"base": {"rpc": ["http://node.lan:8545"]}});
    for routing in [json!({}), json!({"allowHttp": false})] {
        let (path, text) = refusal(&json!({"networks": networks, "routing": routing}));
        assert_eq!(path, "networks.base.rpc[0]");
        assert!(text.contains("is not encrypted"), "{text}");
    }
    let consented = json!({"networks": networks, "routing": {"allowHttp": true}});
    Config::from_json(&consented.to_string()).unwrap();
}

/// Whatever is wrong with a number, what is accepted is the same: its range.
#[test]
fn numbers_of_the_wrong_kind_are_told_their_range() {
    let endpoint = |field: &str, value: &Value| {
        let mut endpoint = json!({"url": "https://x.test"});
        endpoint[field] = value.clone();
        json!({"networks": {"base": {"rpc": [endpoint]}}})
    };
    let section = |section: &str, field: &str, value: &Value| {
        let mut config = json!({(section): {}});
        config[section][field] = value.clone();
        config
    };
    let config = |path: &str, value: &Value| match path.split_once('.') {
        Some((name, field)) => section(name, field, value),
        None => endpoint(path, value),
    };
    for (path, accepted) in [
        ("weight", "a whole number from 1 to 1000"),
        ("priority", "a whole number from 0 to 255"),
        ("maxInFlight", "a whole number from 1 to 4294967295"),
        ("routing.probeTimeoutMs", "a whole number from 1 to 30000"),
        ("routing.maxEndpointsPerNetwork", "a whole number from 1 to 2"),
        ("routing.seed", "a whole number from 0"),
        ("health.failureWindow", "a whole number from 1 to 64"),
        ("health.consecutiveFailures", "a whole number from 1 to 4294967295"),
        ("health.failurePercent", "a whole number from 1 to 100"),
        ("health.openForMs", "a whole number from 1"),
        ("health.backoffMs", "a whole number from 0"),
        ("health.capacity", "a whole number from 1 to 65536"),
        ("health.ewmaAlpha", "a number above 0, at most 1"),
        ("limits.headerBytes", "a whole number from 1 to 1048576"),
        ("limits.requirements", "a whole number from 1 to 1024"),
    ] {
        let document = config(path, &json!("HERE")).to_string();
        for (value, problem) in [
            ("\"2\"", "is a string"),
            ("-1", "is out of range"),
            ("18446744073709551616", "is out of range"),
            ("[]", "is an array"),
        ] {
            let text = Config::from_json(&document.replace("\"HERE\"", value)).unwrap_err().to_string();
            assert!(text.ends_with(&format!("{problem}; accepted is {accepted}")), "{path} {value}: {text}");
        }
    }
}

#[test]
fn a_provider_needs_a_transport_that_knows_it() {
    let config = json!({"networks": {"base": {"rpc": [{"provider": "wallet", "label": "My wallet"}]}}});
    let config = Config::from_json(&config.to_string()).unwrap();
    let error = payroute::RouteSelector::new(config).unwrap_err();
    let BuildError::Configuration(error) = error else { panic!("{error}") };
    assert_eq!(error.path(), "networks.eip155:8453.rpc");
}
