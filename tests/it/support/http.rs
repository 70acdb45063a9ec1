//! A small HTTP/1.1 server on loopback: real sockets, keep-alive, and faults that only sockets
//! have.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request.
pub enum Act {
    /// Answers with this status, these header lines and this body.
    Respond(u16, &'static str, Vec<u8>),
    /// Sends these bytes and then nothing, with the connection open.
    Stall(Vec<u8>),
    /// Sends these bytes and closes.
    Cut(Vec<u8>),
    /// Answers 200 and then sends until the other side has had enough.
    Flood,
}

impl Act {
    pub fn json(value: &Value) -> Self {
        Self::Respond(200, "content-type: application/json\r\n", value.to_string().into_bytes())
    }
}

pub struct Server {
    pub address: SocketAddr,
    pub requests: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub async fn start(handler: impl Fn(Value) -> Act + Send + Sync + 'static) -> Self {
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
    handler: &(dyn Fn(Value) -> Act + Send + Sync),
    counter: &AtomicUsize,
) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(body) = read_request(&mut stream, &mut buffer).await? {
        counter.fetch_add(1, Ordering::SeqCst);
        match handler(serde_json::from_slice(&body).unwrap()) {
            Act::Respond(status, headers, body) => {
                let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n", body.len());
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(&body).await?;
            }
            Act::Stall(bytes) => {
                stream.write_all(&bytes).await?;
                // Until the client goes away.
                stream.read_to_end(&mut buffer).await?;
                return Ok(());
            }
            Act::Cut(bytes) => return stream.write_all(&bytes).await,
            Act::Flood => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
                let chunk = [b"10000\r\n".as_slice(), &vec![b' '; 65_536], b"\r\n"].concat();
                loop {
                    stream.write_all(&chunk).await?;
                }
            }
        }
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
