//! The documents' JSON: what they show as a configuration is one.

use payroute::Config;

#[test]
fn every_configuration_that_is_shown_is_accepted() {
    let mut shown = 0;
    for (name, document) in [("README", include_str!("../../README.md")), ("GUIDE", include_str!("../../GUIDE.md"))] {
        for block in document.split("\n```json\n").skip(1) {
            let config = block.split("\n```").next().unwrap();
            Config::from_json(config).unwrap_or_else(|error| panic!("{name}: {error}: {config}"));
            shown += 1;
        }
    }
    assert!(shown >= 5, "only {shown} were found");
}
