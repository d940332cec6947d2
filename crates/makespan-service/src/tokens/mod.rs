//! Tokens tell who asks. A token is shown once, when it is made; the store keeps its SHA-256 only, in `tokens.json`, which only its owner
//! may read.

mod file;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use thiserror::Error;

use crate::words::{Role, Who};

use file::{Stamp, locked, read, stamp, write};
pub use file::{read_private, write_private};

/// What each token begins with, so that programs that look for secrets find it.
const PREFIX: &str = "mks_";
/// Most characters of a name.
const MAX_NAME: usize = 64;
/// How long a token that was removed by another process may still be taken.
const STALE: Duration = Duration::from_millis(500);

/// What is wrong with tokens.
#[derive(Debug, Error)]
pub enum TokenError {
    /// A file cannot be read or written.
    #[error("{path}: cannot {doing}: {source}")]
    File {
        /// Which file.
        path: String,
        /// `read`, `write`, ..
        doing: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// Others may read a file with secrets.
    #[error("{path}: others may read it (mode {mode:o}); take that from them: chmod 600 {path}")]
    Open {
        /// Which file.
        path: String,
        /// Its permissions.
        mode: u32,
    },
    /// A file is not what the service wrote.
    #[error(
        "{path}: it is no list of tokens: {message}; restore it, or remove it and start the service, which makes a new token"
    )]
    Content {
        /// Which file.
        path: String,
        /// Why.
        message: String,
    },
    /// A name is none.
    #[error(
        "`{0}` is no name of a user; write at most 64 letters, digits, and . _ - + @, of which the first is a letter, a digit or _"
    )]
    User(String),
    /// There is no such token.
    #[error("there is no token `{0}`; `makespan token list` shows them")]
    Unknown(String),
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// What is known of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRecord {
    /// What it is called when it is removed: the first characters of its hash.
    pub id: String,
    /// The SHA-256 of the token, in hexadecimal digits.
    hash: String,
    /// Whose it is.
    pub user: String,
    /// What may be done with it.
    pub role: Role,
    /// When it was made, seconds after 1970.
    pub created: u64,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The tokens of a store, as a service that runs sees them: it takes up what another process adds or removes.
pub struct Tokens {
    store: PathBuf,
    seen: Mutex<Seen>,
}

struct Seen {
    at: Option<Instant>,
    stamp: Option<Stamp>,
    records: Vec<TokenRecord>,
}

impl Tokens {
    /// Reads the tokens of a store.
    ///
    /// # Errors
    /// [`TokenError`] where the file is damaged or others may read it.
    pub fn open(store: &Path) -> Result<Self, TokenError> {
        let records = read(store)?;
        let seen = Seen { at: Some(Instant::now()), stamp: stamp(store), records };
        Ok(Self { store: store.to_owned(), seen: Mutex::new(seen) })
    }

    /// Whose a token is, and what it is called. All tokens are compared, in a time that does not depend on how they differ.
    pub fn who(&self, token: &str) -> Option<(Who, String)> {
        // One that was made a moment ago is known at once; who guesses makes nobody read the file all the time.
        self.find(token, STALE).or_else(|| self.find(token, STALE / 10))
    }

    fn find(&self, token: &str, stale: Duration) -> Option<(Who, String)> {
        let hash = hash(token);
        let mut found = None;
        for record in &self.fresh(stale).records {
            if bool::from(record.hash.as_bytes().ct_eq(hash.as_bytes())) {
                found = Some((Who { user: record.user.clone(), role: record.role }, record.id.clone()));
            }
        }
        found
    }

    /// Whether a token was not removed.
    pub fn holds(&self, id: &str) -> bool {
        self.fresh(STALE).records.iter().any(|record| record.id == id)
    }

    /// The tokens as they are now. A file that cannot be read leaves those that were known: who removes a token sees that it failed.
    fn fresh(&self, stale: Duration) -> std::sync::MutexGuard<'_, Seen> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.at.is_none_or(|at| at.elapsed() > stale) {
            seen.at = Some(Instant::now());
            let now = stamp(&self.store);
            if now != seen.stamp
                && let Ok(records) = read(&self.store)
            {
                seen.stamp = now;
                seen.records = records;
            }
        }
        seen
    }
}

/// Makes a token for a user of a store; what is returned is shown once.
///
/// # Errors
/// [`TokenError`]; then none was made.
pub fn add(store: &Path, user: &str, role: Role, name: Option<&str>) -> Result<String, TokenError> {
    if !is_user(user) {
        return Err(TokenError::User(user.to_owned()));
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| TokenError::Random(error.to_string()))?;
    let token = format!("{PREFIX}{}", hexadecimal(&random));
    let hash = hash(&token);
    let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let record = TokenRecord {
        id: hash[..8].to_owned(),
        hash,
        user: user.to_owned(),
        role,
        created,
        name: name.map(str::to_owned),
    };
    let _lock = locked(store)?;
    let mut records = read(store)?;
    records.push(record);
    write(store, &records)?;
    Ok(token)
}

/// The tokens of a store, the oldest first.
///
/// # Errors
/// [`TokenError`].
pub fn list(store: &Path) -> Result<Vec<TokenRecord>, TokenError> {
    read(store)
}

/// Removes a token by what it is called; a service that runs refuses it within a second.
///
/// # Errors
/// [`TokenError`], where there is none of this name.
pub fn remove(store: &Path, id: &str) -> Result<TokenRecord, TokenError> {
    let _lock = locked(store)?;
    let mut records = read(store)?;
    let place = records.iter().position(|record| record.id == id).ok_or_else(|| TokenError::Unknown(id.to_owned()))?;
    let removed = records.remove(place);
    write(store, &records)?;
    Ok(removed)
}

/// Makes sure that the file `token` of a store holds a token of an admin for its own user, and returns that file.
///
/// # Errors
/// [`TokenError`].
pub fn ensure_own(store: &Path, user: &str) -> Result<PathBuf, TokenError> {
    let path = store.join("token");
    if path.exists() {
        let token = read_private(&path)?;
        if Tokens::open(store)?.who(token.trim()).is_some_and(|(who, _)| who.role == Role::Admin) {
            return Ok(path);
        }
    }
    let token = add(store, user, Role::Admin, Some("made by `makespan serve`"))?;
    write_private(&path, format!("{token}\n").as_bytes())?;
    Ok(path)
}

/// Whether a text can be the name of a user.
pub fn is_user(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@');
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(plain)
}

fn hash(token: &str) -> String {
    hexadecimal(&Sha256::digest(token.as_bytes()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
