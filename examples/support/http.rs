//! As much of an HTTP/1.1 server as the quickstart needs. Refuses chunked bodies and large ones.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Bytes of a head or a body: a hundred times what a selection sends.
const MOST_BYTES: u64 = 64 * 1024;

pub(super) struct Response {
    /// Code and words: `200 OK`.
    pub(super) status: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

/// Answers every request on a free loopback port from its body, until the process ends.
pub(super) async fn serve(answer: impl Fn(&str) -> Response + Send + Sync + 'static) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            // A client that hangs up or talks nonsense loses its own connection only.
            tokio::spawn(async move { converse(stream, &*answer).await });
        }
    });
    Ok(address)
}

async fn converse(stream: TcpStream, answer: &(impl Fn(&str) -> Response + Sync)) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(body) = read_request(&mut stream).await? {
        let Response { status, headers, body } = answer(&body);
        let mut head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let message = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(message.as_bytes()).await?;
    }
    Ok(())
}

/// The body of the next request; `None` when the client is done.
async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut length = 0;
    let mut head = stream.take(MOST_BYTES);
    loop {
        let mut line = String::new();
        if head.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(|_| io::ErrorKind::InvalidData)?;
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    if length > MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = String::new();
    stream.take(length).read_to_string(&mut body).await?;
    Ok(Some(body))
}
