//! A line on the terminal while a run takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a run takes before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two signs of life.
const BEAT: Duration = Duration::from_millis(200);

/// The line. It goes away with the value.
pub struct Progress(Option<(Sender<String>, JoinHandle<()>)>);

impl Progress {
    /// Starts to wait. Nothing is ever shown where nobody looks: off a terminal, and in continuous integration.
    pub fn new(wanted: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if !wanted || dumb || !io::stderr().is_terminal() || std::env::var_os("CI").is_some() {
            return Self(None);
        }
        let (tell, told) = channel::<String>();
        let thread = thread::spawn(move || {
            let (start, mut stage, mut shown) = (Instant::now(), String::new(), false);
            loop {
                let wait = PATIENCE.saturating_sub(start.elapsed()).max(BEAT);
                match told.recv_timeout(wait) {
                    Ok(next) => stage = next,
                    Err(RecvTimeoutError::Timeout) => {
                        shown = true;
                        line(&format!("{stage}, {} s", start.elapsed().as_secs()));
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            if shown {
                line("");
            }
        });
        Self(Some((tell, thread)))
    }

    /// Says what is done now.
    pub fn tell(&self, stage: &str) {
        if let Some((tell, _)) = &self.0 {
            let _ = tell.send(stage.to_owned());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((tell, thread)) = self.0.take() {
            drop(tell);
            let _ = thread.join();
        }
    }
}

/// Replaces the line; there is nobody left to tell when that fails.
fn line(text: &str) {
    let _ = write!(io::stderr(), "\r\u{1b}[K{text}");
    let _ = io::stderr().flush();
}
