//! The door with a scripted session behind it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests only"
)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use pando_kernel::Format;
use pando_postgres::codec::Malformed;
use pando_postgres::codec::copy::{encode_data, encode_done, encode_fail};
use pando_postgres::codec::frontend::{
    Binding, Close, Describe, Execute, Named, Parse, Query, encode_flush, encode_sync,
    encode_terminate, put,
};
use support::raw::Peer;
use support::script::{TestDoor, door};

/// Messages one after the other.
#[derive(Default)]
struct Batch(BytesMut);

impl Batch {
    fn query(mut self, text: &str) -> Batch {
        Query { text }.encode(&mut self.0);
        self
    }

    fn parse(mut self, name: &str, text: &str, types: &[u32]) -> Batch {
        Parse::encode(&mut self.0, name, text, types).unwrap();
        self
    }

    fn bind(self, portal: &str, statement: &str) -> Batch {
        self.bind_with((portal, statement), &[], &[], &[])
    }

    fn bind_with(
        mut self,
        (portal, statement): (&str, &str),
        values: &[Option<&[u8]>],
        formats: &[Format],
        results: &[Format],
    ) -> Batch {
        let binding = Binding { portal, statement, formats, count: values.len(), results };
        let encoded = binding.encode(&mut self.0, |index, buf| {
            put(buf, values[index]);
            Ok::<(), Malformed>(())
        });
        encoded.unwrap();
        self
    }

    fn describe(mut self, what: Named<'_>) -> Batch {
        Describe(what).encode(&mut self.0);
        self
    }

    fn execute(mut self, portal: &str, max_rows: i32) -> Batch {
        Execute { portal, max_rows }.encode(&mut self.0);
        self
    }

    fn close(mut self, what: Named<'_>) -> Batch {
        Close(what).encode(&mut self.0);
        self
    }

    fn sync(mut self) -> Batch {
        encode_sync(&mut self.0);
        self
    }

    fn flush(mut self) -> Batch {
        encode_flush(&mut self.0);
        self
    }
}

fn batch() -> Batch {
    Batch::default()
}

async fn check(messages: Batch, expected: &[&str]) -> Arc<TestDoor> {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    assert_eq!(peer.ask(&messages.0).await, expected);
    door
}

fn requests(door: &TestDoor) -> Vec<String> {
    door.seen.lock().unwrap().requests.clone()
}

// The simple protocol.

#[tokio::test]
async fn a_text_of_several_statements_gets_an_answer_for_each() {
    let expected = ["T n:23:Text", "D 0", "D 1", "C SELECT 2", "C INSERT 0 1", "Z I"];
    check(batch().query("rows 2; store 1"), &expected).await;
}

#[tokio::test]
async fn an_empty_text_gets_its_own_answer() {
    check(batch().query(" ; "), &["I", "Z I"]).await;
}

#[tokio::test]
async fn an_error_ends_the_text_and_not_the_conversation() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let lines = peer.ask(&batch().query("store 1; fail; store 2").0).await;
    assert_eq!(lines, ["C INSERT 0 1", "E ERROR 42P01 no such thing", "Z I"]);
    assert_eq!(peer.ask(&batch().query("store 3").0).await, ["C INSERT 0 1", "Z I"]);
}

#[tokio::test]
async fn a_syntax_error_is_placed_in_the_whole_text() {
    let expected = ["C INSERT 0 1", "E ERROR 42601 syntax error: near `syntax` 11", "Z I"];
    check(batch().query("store 1;  syntax"), &expected).await;
}

#[tokio::test]
async fn rows_of_other_forms_become_this_protocols() {
    let expected = ["T a:20:Text b:25:Text", "D 1 x", "D NULL x", "C SELECT 2", "Z I"];
    check(batch().query("neutral"), &expected).await;
}

#[tokio::test]
async fn warnings_and_settings_come_before_the_end() {
    let expected = ["N careful", "S TimeZone=Asia/Tokyo", "C SET", "Z I"];
    check(batch().query("warn"), &expected).await;
}

#[tokio::test]
async fn the_transaction_status_is_told() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    assert_eq!(peer.ask(&batch().query("begin").0).await, ["C BEGIN", "Z T"]);
    let lines = peer.ask(&batch().query("fail").0).await;
    assert_eq!(lines.last().unwrap(), "Z E");
}

#[tokio::test]
async fn a_broken_session_is_closed_with_a_fatal_error() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    peer.send(&batch().query("broken").0).await;
    assert_eq!(peer.rest().await, ["E FATAL XX000 internal error: broken"]);
}

#[tokio::test]
async fn large_replies_arrive_whole_though_the_client_reads_late() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let lines = peer.ask(&batch().query("big 100").0).await;
    assert_eq!(lines.len(), 100_003);
    assert_eq!(lines[100_001], "C SELECT 100000");
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_statement() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    peer.send(&batch().query("hang").0).await;
    while requests(&door).is_empty() {
        tokio::task::yield_now().await;
    }
    drop(peer);
    while door.seen.lock().unwrap().cancelled.is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_terminated_conversation_ends_without_a_word() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let mut out = BytesMut::new();
    encode_terminate(&mut out);
    peer.send(&out).await;
    assert!(peer.rest().await.is_empty());
}

// The extended protocol.

#[tokio::test]
async fn a_pipeline_is_answered_in_order() {
    let messages = batch()
        .parse("", "rows 2", &[])
        .bind("", "")
        .describe(Named::Portal(""))
        .execute("", 0)
        .sync();
    let expected = ["1", "2", "T n:23:Text", "D 0", "D 1", "C SELECT 2", "Z I"];
    let door = check(messages, &expected).await;
    // The description came with the reply: nobody was asked for it, nor told to commit.
    assert_eq!(requests(&door), ["prepare rows 2 []", "execute rows 2 () Alone"]);
}

#[tokio::test]
async fn several_executions_before_a_sync_form_one_pipeline() {
    let messages = batch()
        .parse("", "store 1", &[])
        .bind("", "")
        .execute("", 0)
        .bind("", "")
        .execute("", 0)
        .sync();
    let expected = ["1", "2", "C INSERT 0 1", "2", "C INSERT 0 1", "Z I"];
    let door = check(messages, &expected).await;
    let expected =
        ["prepare store 1 []", "execute store 1 () More", "execute store 1 () More", "sync"];
    assert_eq!(requests(&door), expected);
}

#[tokio::test]
async fn after_an_error_everything_up_to_the_sync_is_passed_over() {
    let messages = batch()
        .parse("", "fail", &[])
        .bind("", "")
        .execute("", 0)
        .parse("never", "store 1", &[])
        .query("store 2")
        .sync()
        .describe(Named::Statement("never"))
        .sync();
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let lines = peer.ask(&messages.0).await;
    assert_eq!(lines, ["1", "2", "E ERROR 42P01 no such thing", "Z I"]);
    let lines = peer.until("Z").await;
    assert_eq!(lines[0], "E ERROR 26000 prepared statement \"never\" does not exist");
}

#[tokio::test]
async fn an_error_is_told_before_the_sync_comes() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    peer.send(&batch().parse("", "fail", &[]).bind("", "").execute("", 0).flush().0).await;
    assert_eq!(peer.until("E").await, ["1", "2", "E ERROR 42P01 no such thing"]);
    assert_eq!(peer.ask(&batch().sync().0).await, ["Z I"]);
}

#[tokio::test]
async fn a_statement_tells_its_parameters_and_columns() {
    let messages = batch()
        .parse("s", "rows 2 $1 $2", &[0, 25])
        .describe(Named::Statement("s"))
        .parse("i", "store 1", &[])
        .describe(Named::Statement("i"))
        .sync();
    let expected = ["1", "t [23, 25]", "T n:23:Text", "1", "t []", "n", "Z I"];
    check(messages, &expected).await;
}

#[tokio::test]
async fn a_statement_that_cannot_be_described_was_never_prepared() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let fails = batch().parse("s", "fail", &[]).describe(Named::Statement("s")).sync();
    assert_eq!(peer.ask(&fails.0).await, ["E ERROR 42P01 no such thing", "Z I"]);
    // Its name is free, as it is where a server has refused the Parse.
    let again = batch().parse("s", "rows 1", &[]).describe(Named::Statement("s")).sync();
    assert_eq!(peer.ask(&again.0).await, ["1", "t []", "T n:23:Text", "Z I"]);
}

#[tokio::test]
async fn a_statement_with_a_name_is_proved_before_what_else_comes() {
    let messages = batch()
        .parse("t", "rows 1", &[])
        .parse("s", "fail", &[])
        .describe(Named::Statement("t"))
        .sync()
        .parse("s", "rows 1", &[])
        .close(Named::Statement("s"))
        .sync();
    let door = door();
    let mut peer = Peer::enter(&door).await;
    assert_eq!(peer.ask(&messages.0).await, ["1", "E ERROR 42P01 no such thing", "Z I"]);
    assert_eq!(peer.until("Z").await, ["1", "3", "Z I"]);
    peer.send(&batch().parse("u", "rows 1", &[]).flush().0).await;
    assert_eq!(peer.until("1").await, ["1"]);
}

#[tokio::test]
async fn a_portal_described_without_being_run_is_described_all_the_same() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let describe = batch()
        .parse("", "rows 1", &[])
        .bind_with(("p", ""), &[], &[], &[Format::Binary])
        .describe(Named::Portal("p"))
        .flush();
    peer.send(&describe.0).await;
    assert_eq!(peer.until("T").await, ["1", "2", "T n:23:Binary"]);
    let lines = peer.ask(&batch().execute("p", 0).sync().0).await;
    assert_eq!(lines, ["D \\x00\\x00\\x00\\x00", "C SELECT 1", "Z I"]);
}

#[tokio::test]
async fn a_described_portal_without_rows_says_so() {
    let messages = batch()
        .parse("", "store 1", &[])
        .bind("", "")
        .describe(Named::Portal(""))
        .execute("", 0)
        .sync();
    check(messages, &["1", "2", "n", "C INSERT 0 1", "Z I"]).await;
}

#[tokio::test]
async fn rows_of_other_forms_come_in_the_format_asked_for() {
    let messages = batch()
        .parse("", "neutral", &[])
        .bind_with(("", ""), &[], &[], &[Format::Binary, Format::Text])
        .describe(Named::Portal(""))
        .execute("", 0)
        .sync();
    let expected = [
        "1",
        "2",
        "T a:20:Binary b:25:Text",
        "D \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01 x",
        "D NULL x",
        "C SELECT 2",
        "Z I",
    ];
    check(messages, &expected).await;
}

#[tokio::test]
async fn a_portal_stops_at_its_limit_and_goes_on() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let messages = batch()
        .query("begin")
        .parse("", "rows 5", &[])
        .bind("p", "")
        .execute("p", 2)
        .execute("p", 2)
        .sync()
        .execute("p", 0)
        .execute("p", 0)
        .sync();
    peer.send(&messages.0).await;
    assert_eq!(peer.until("Z").await, ["C BEGIN", "Z T"]);
    let lines = peer.until("Z").await;
    assert_eq!(lines, ["1", "2", "D 0", "D 1", "s", "D 0", "D 1", "s", "Z T"]);
    assert_eq!(peer.until("Z").await, ["D 0", "C SELECT 1", "C SELECT 0", "Z T"]);
}

#[tokio::test]
async fn portals_end_with_their_transaction() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let open = batch().parse("", "rows 5", &[]).bind("p", "").execute("p", 2).sync();
    assert_eq!(peer.ask(&open.0).await.last().unwrap(), "Z I");
    assert!(requests(&door).contains(&"close 1".to_owned()), "{:?}", requests(&door));
    let lines = peer.ask(&batch().execute("p", 2).sync().0).await;
    assert_eq!(lines[0], "E ERROR 34000 portal \"p\" does not exist");
}

#[tokio::test]
async fn parameters_are_decoded_by_their_types() {
    let messages = batch()
        .parse("", "store $1 $2 $3 $4", &[23, 0, 25, 0])
        .bind_with(
            ("", ""),
            &[Some(&[0, 0, 0, 9]), Some(b"12"), None, Some(&[0, 0, 0, 8])],
            &[Format::Binary, Format::Text, Format::Text, Format::Binary],
            &[],
        )
        .execute("", 0)
        .sync();
    let door = check(messages, &["1", "2", "C INSERT 0 1", "Z I"]).await;
    // The type of $4 had to be asked for, and then that of $2 was known as well.
    let expected = "execute store $1 $2 $3 $4 (Int(9), Int(12), Null, Int(8)) Alone";
    assert_eq!(requests(&door).last().unwrap(), expected);
}

#[tokio::test]
async fn wrong_bindings_are_refused() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    for (messages, expected) in [
        (batch().bind("", "none"), "E ERROR 26000 prepared statement \"none\" does not exist"),
        (
            batch().parse("", "store $1", &[]).bind("", ""),
            "E ERROR 08P01 bind message supplies 0 parameters, but prepared statement \"\" requires 1",
        ),
        (
            batch().parse("", "store $1", &[23]).bind_with(
                ("", ""),
                &[Some(b"abc")],
                &[Format::Binary],
                &[],
            ),
            "E ERROR 22P03 incorrect binary data format for type integer",
        ),
        (
            batch().parse("d", "store 1", &[]).parse("d", "store 1", &[]),
            "E ERROR 42P05 prepared statement \"d\" already exists",
        ),
        (
            batch().parse("", "store 1", &[]).bind("p", "").bind("p", ""),
            "E ERROR 42P03 portal \"p\" already exists",
        ),
        (
            batch()
                .parse("", "rows 1", &[])
                .bind_with(("", ""), &[], &[], &[Format::Text, Format::Text])
                .execute("", 0),
            "E ERROR 08P01 bind message has 2 result formats but query has 1 columns",
        ),
        (
            batch().parse("", "store 1", &[]).bind("", "").execute("", 0).execute("", 0),
            "E ERROR 55000 portal \"\" cannot be run",
        ),
        (batch().parse("", "syntax", &[]), "E ERROR 42601 syntax error: near `syntax` 1"),
    ] {
        let lines = peer.ask(&messages.sync().0).await;
        assert_eq!(lines[lines.len() - 2], expected);
    }
}

#[tokio::test]
async fn statements_and_portals_can_be_closed() {
    let messages = batch()
        .parse("s", "store 1", &[])
        .close(Named::Statement("s"))
        .parse("s", "store 1", &[])
        .close(Named::Portal("never there"))
        .sync();
    check(messages, &["1", "3", "1", "3", "Z I"]).await;
}

#[tokio::test]
async fn a_simple_query_takes_the_unnamed_statement_away() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    peer.ask(&batch().parse("", "store 1", &[]).sync().0).await;
    peer.ask(&batch().query("store 2").0).await;
    let lines = peer.ask(&batch().bind("", "").sync().0).await;
    assert_eq!(lines[0], "E ERROR 26000 unnamed prepared statement does not exist");
}

// COPY.

fn copy_messages(data: &[&str], end: impl FnOnce(&mut BytesMut)) -> BytesMut {
    let mut out = BytesMut::new();
    data.iter().for_each(|data| encode_data(&mut out, data.as_bytes()));
    end(&mut out);
    out
}

#[tokio::test]
async fn copied_data_reaches_the_session() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    peer.send(&batch().query("copyin").0).await;
    assert_eq!(peer.next().await.unwrap(), "G");
    let lines = peer.ask(&copy_messages(&["1\n", "2\n"], encode_done)).await;
    assert_eq!(lines, ["C COPY 1", "Z I"]);
    assert_eq!(requests(&door)[1..], ["data 1\n", "data 2\n", "done"]);
}

#[tokio::test]
async fn a_copy_can_be_given_up_by_either_side() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    peer.send(&batch().query("copyin").0).await;
    peer.next().await;
    let lines = peer.ask(&copy_messages(&[], |out| encode_fail(out, "no"))).await;
    assert_eq!(lines, ["E ERROR 57014 COPY from stdin failed", "Z I"]);
    peer.send(&batch().query("copyin").0).await;
    peer.next().await;
    // What follows the failure is left over and has no answer of its own.
    let lines = peer.ask(&copy_messages(&["bad\n", "2\n"], encode_done)).await;
    assert_eq!(lines, ["E ERROR 22P02 bad data", "Z I"]);
    assert_eq!(peer.ask(&batch().query("store 1").0).await, ["C INSERT 0 1", "Z I"]);
}

#[tokio::test]
async fn a_copy_in_a_pipeline_ignores_the_sync_sent_too_early() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    let messages = batch().parse("", "copyin", &[]).bind("", "").execute("", 0).sync();
    peer.send(&messages.0).await;
    assert_eq!(peer.until("G").await, ["1", "2", "G"]);
    let mut data = copy_messages(&["1\n"], encode_done);
    encode_sync(&mut data);
    assert_eq!(peer.ask(&data).await, ["C COPY 1", "Z I"]);
}

#[tokio::test]
async fn another_message_during_a_copy_is_a_violation() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    peer.send(&batch().query("copyin").0).await;
    peer.next().await;
    let lines = peer.ask(&batch().query("store 1").0).await;
    assert!(lines[0].starts_with("E ERROR 08P01"), "{lines:?}");
}

#[tokio::test]
async fn data_goes_out_as_copy_data() {
    check(batch().query("copyout"), &["H", "d 1\n", "d 2\n", "c", "C COPY 2", "Z I"]).await;
}

// Violations, limits, stopping.

#[tokio::test]
async fn broken_messages_get_08p01_and_the_conversation_goes_on() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    // A Query without its zero byte.
    let lines = peer.ask(b"Q\0\0\0\x05x").await;
    assert!(lines[0].starts_with("E ERROR 08P01"), "{lines:?}");
    // A text that is not UTF-8.
    let lines = peer.ask(b"Q\0\0\0\x06\xff\0").await;
    assert!(lines[0].starts_with("E ERROR 22"), "{lines:?}");
    // A Bind that ends too early.
    let lines = peer.ask(b"B\0\0\0\x05\0S\0\0\0\x04").await;
    assert!(lines[0].starts_with("E ERROR 08P01"), "{lines:?}");
    let lines = peer.ask(b"F\0\0\0\x04").await;
    assert!(lines[0].starts_with("E ERROR 0A000"), "{lines:?}");
    assert_eq!(peer.ask(&batch().query("store 1").0).await, ["C INSERT 0 1", "Z I"]);
}

#[tokio::test]
async fn what_cannot_be_followed_ends_the_conversation() {
    for bytes in
        [&b"!\0\0\0\x04"[..], b"p\0\0\0\x04", b"Q\x7f\xff\xff\xff", b"Q\0\0\0\x03", b"S\0\x01\0\0"]
    {
        let mut peer = Peer::enter(&door()).await;
        peer.send(bytes).await;
        let lines = peer.rest().await;
        assert!(lines.len() == 1 && lines[0].starts_with("E FATAL 08P01"), "{lines:?}");
    }
}

#[tokio::test]
async fn a_stopping_server_says_good_bye() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    door.stop();
    let expected = ["E FATAL 57P01 terminating connection due to administrator command"];
    assert_eq!(peer.rest().await, expected);
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_is_closed_in_time_and_not_before() {
    let door = door();
    let mut peer = Peer::enter(&door).await;
    tokio::time::advance(Duration::from_secs(500)).await;
    assert_eq!(peer.ask(&batch().query("store 1").0).await, ["C INSERT 0 1", "Z I"]);
    let expected = ["E FATAL 57P05 terminating connection due to idle-session timeout"];
    assert_eq!(peer.rest().await, expected);
}
