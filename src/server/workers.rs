//! Those who work beside the loop, each on a thread of its own, and what they say.

use super::analyst::{Analysed, Analyst};
use super::client::Client;
use super::configuration::Configuration;
use super::documents::{Answer, Errand};
use super::workspace::{Course, Workspace};
use crate::driver::parallel::STACK_BYTES;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::thread;

/// Those who work beside the loop, and what they say.
pub(super) struct Workers {
    pub(super) analyst: Analyst,
    pub(super) analysed: Receiver<Analysed>,
    /// Work beside checks, one piece after the other.
    pub(super) errands: Sender<Errand>,
    pub(super) answers: Receiver<Answer>,
    pub(super) workspace: Option<Workspace>,
    pub(super) course: Receiver<Course>,
}

impl Workers {
    pub(super) fn start(client: &Client, configuration: &Arc<dyn Configuration>) -> std::io::Result<Workers> {
        let (tell, analysed) = unbounded();
        let analyst = Analyst::start(tell)?;
        let (errands, asked) = unbounded::<Errand>();
        let (tell, answers) = unbounded();
        let answer = move || {
            while let Ok(errand) = asked.recv() {
                if tell.send(errand()).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("answers".to_owned()).stack_size(STACK_BYTES).spawn(answer)?;
        let known = Arc::clone(configuration);
        // Those who answer are there as long as the session is.
        let _ = errands.send(Box::new(move || Answer::Warning(known.warning())));
        let (tell, course) = unbounded();
        let looks_around = client.settings.workspace && !client.roots.is_empty();
        let start = || Workspace::start(client.roots.clone(), Arc::clone(configuration), tell);
        let workspace = looks_around.then(start).transpose()?;
        Ok(Workers { analyst, analysed, errands, answers, workspace, course })
    }
}
