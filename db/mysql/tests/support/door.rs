//! The door with a scripted session behind it.

use std::sync::Arc;

use bytes::Bytes;
use pando_kernel::backend::{Backend, Connector};
use pando_kernel::runtime::{Address, SharedRuntime};
use pando_kernel::{Result, Value};
use pando_mysql::MySqlConnector;
use pando_mysql::backend::Options;

use super::raw::Raw;
use super::script::{HOUSE, House, Inside};

pub fn settings(user: &str, password: &str) -> Options {
    let mut settings = Options::new("door", Address::Tcp("nowhere".into(), 0));
    settings.user = user.into();
    settings.password = password.into();
    settings.database = "shop".into();
    settings
}

pub async fn enter(house: &Arc<House>, settings: Options) -> Result<Box<dyn Backend>> {
    let runtime: SharedRuntime = Arc::new(Inside(Arc::clone(house)));
    MySqlConnector::new(settings).connect(&runtime).await
}

/// Runs a test with a house of its own.
pub fn run<F: Future<Output = ()>>(test: impl FnOnce(Arc<House>) -> F) {
    run_in(House::new(), test);
}

pub fn run_in<F: Future<Output = ()>>(house: Arc<House>, test: impl FnOnce(Arc<House>) -> F) {
    HOUSE.set(Some(Arc::clone(&house)));
    super::run(test(house));
}

pub fn words(text: &str) -> Value {
    Value::Text(text.into())
}

/// The packets of a text result, by their first byte.
pub async fn result(raw: &mut Raw, sql: &[u8]) -> Vec<Bytes> {
    let mut packets = vec![raw.command(sql).await];
    let mut ends = 0;
    let classic = 2;
    loop {
        let packet = raw.read().await.unwrap();
        let end = packet[0] == 0xFE && packet.len() < 40;
        packets.push(packet.clone());
        ends += usize::from(end);
        let modern = end && packet.len() >= 7;
        if modern || ends == classic || packet[0] == 0xFF {
            return packets;
        }
    }
}
