//! Finished tasks in the directory of `--resume`, if there is one.

use anyhow::{Context, Result};
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use swarm::{Journal, Record, Subject};

pub struct Kept {
    journal: Option<Mutex<Journal>>,
    trouble: Mutex<Option<io::Error>>,
}

impl Kept {
    /// What was kept of this swarm before.
    pub fn open(dir: Option<&Path>, subject: Subject) -> Result<(Kept, Record)> {
        let trouble = Mutex::default();
        let Some(dir) = dir else {
            return Ok((Kept { journal: None, trouble }, Record::new(subject)));
        };
        let (journal, record) = Journal::open(dir, &subject)?;
        Ok((Kept { journal: Some(Mutex::new(journal)), trouble }, record))
    }

    /// Keeps a task; false if that cannot be done.
    pub fn keep(&self, task: &Record, all: &Record) -> bool {
        let Some(journal) = &self.journal else { return true };
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = journal.note(task, all);
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        *trouble = trouble.take().or(noted.err());
        trouble.is_none()
    }

    /// Keeps all in one piece; an error if a task could not be kept.
    pub fn end(self, all: &Record) -> Result<()> {
        let trouble = self.trouble.into_inner().unwrap_or_else(PoisonError::into_inner);
        trouble.map_or(Ok(()), Err).context("finished tasks cannot be kept")?;
        let Some(journal) = self.journal else { return Ok(()) };
        let mut journal = journal.into_inner().unwrap_or_else(PoisonError::into_inner);
        journal.merge(all).context("finished tasks cannot be kept")
    }
}
