//! A small HTTP/1.1 server on loopback that counts: real sockets, keep-alive. One that misbehaves is
//! in `tests/faults`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub struct Server {
    pub address: SocketAddr,
    pub requests: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub async fn start(handler: impl Fn(Value) -> Value + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let (handler, counter) = (Arc::new(handler), requests.clone());
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (handler, counter) = (handler.clone(), counter.clone());
                tokio::spawn(async move {
                    // A client that goes away in the middle is part of the tests.
                    let _ = serve(stream, &*handler, &counter).await;
                });
            }
        });
        Self { address, requests, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v2/key", self.address)
    }

    pub fn count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    handler: &(dyn Fn(Value) -> Value + Send + Sync),
    counter: &AtomicUsize,
) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(body) = read_request(&mut stream, &mut buffer).await? {
        counter.fetch_add(1, Ordering::SeqCst);
        let answer = handler(serde_json::from_slice(&body).unwrap()).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", answer.len());
        stream.write_all((head + &answer).as_bytes()).await?;
    }
    Ok(())
}

async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .map_or(0, |n| n.trim().parse().unwrap());
            if buffer.len() >= end + 4 + length {
                let body = buffer[end + 4..end + 4 + length].to_vec();
                buffer.drain(..end + 4 + length);
                return Ok(Some(body));
            }
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}
