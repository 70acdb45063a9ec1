//! Answers byte by byte: connections that end, and bodies that do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub enum Act {
    /// Sends this and closes.
    Close(String),
    /// Sends this and then nothing, with the connection open.
    Stall(String),
    /// Sends this and then chunks until the other side has had enough.
    Flood(String),
}

pub struct Wire {
    pub url: String,
    requests: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Wire {
    /// Answers by the request's head.
    pub async fn start(answer: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/item", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let (answer, counter) = (Arc::new(answer), requests.clone());
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (answer, counter) = (answer.clone(), counter.clone());
                // A client that goes away in the middle is part of the tests.
                tokio::spawn(async move { converse(stream, &*answer, &counter).await });
            }
        });
        Self { url, requests, task }
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn converse(
    mut stream: TcpStream,
    answer: &(dyn Fn(&str) -> Act + Send + Sync),
    requests: &AtomicUsize,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    requests.fetch_add(1, Ordering::SeqCst);
    match answer(&String::from_utf8_lossy(&head).to_ascii_lowercase()) {
        Act::Close(bytes) => stream.write_all(bytes.as_bytes()).await,
        Act::Stall(bytes) => {
            stream.write_all(bytes.as_bytes()).await?;
            stream.read_to_end(&mut head).await.map(|_| ())
        }
        Act::Flood(bytes) => {
            stream.write_all(bytes.as_bytes()).await?;
            let chunk = [b"10000\r\n".as_slice(), &vec![b' '; 65_536], b"\r\n"].concat();
            loop {
                stream.write_all(&chunk).await?;
            }
        }
    }
}
