//! Lists of tools.

use serde_json::{Value, json};

use super::host::{BOTH, Era, Host, MASK, options, token};
use super::sample::Sample;

async fn names(host: &Host, era: Era) -> Vec<String> {
    let client = host.client(era).await;
    let tools = client.peer().list_all_tools().await.unwrap();
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_listed_and_the_mode_hides_what_it_does_not_allow() {
    let upstream = Sample::start().await;
    for (mode, expected) in [
        ("read_only", &["leak", "echo", "slow", "fail"][..]),
        ("safe_edit", &["leak", "echo", "slow", "fail", "write"]),
        ("migration", &["leak", "echo", "slow", "fail", "write", "wipe", "undeclared"]),
    ] {
        let mut options = options(&upstream.url);
        options.mode = Some(mode.to_owned());
        let host = Host::start(options).await;
        for era in BOTH {
            assert_eq!(names(&host, era).await, expected, "{mode}");
        }
        host.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn under_dry_run_everything_is_listed() {
    let upstream = Sample::start().await;
    let mut options = options(&upstream.url);
    options.mode = Some("read_only".to_owned());
    options.dry_run = true;
    let host = Host::start(options).await;
    assert_eq!(names(&host, Era::Modern).await.len(), 7);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn descriptions_are_cleaned_and_schemas_keep_their_order() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let client = host.client(Era::Modern).await;
    let list = client.peer().list_tools(None).await.unwrap();
    let list: Value = serde_json::to_value(list).unwrap();
    let tool = &list["tools"][0];
    assert_eq!(tool["description"], json!(format!("leaks {MASK}")));
    assert_eq!(tool["title"], json!(format!("Leak {MASK}")));
    let order: Vec<_> = tool["inputSchema"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(order, ["z", "a"]);
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    assert_eq!(list["cacheScope"], "private");
    assert!(!list.to_string().contains(&token()));
    drop(client);
    host.stop().await;
}
