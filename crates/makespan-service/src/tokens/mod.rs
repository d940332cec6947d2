//! Tokens authenticate clients. A token is shown once, when it is created. The store contains only the SHA-256 hash of the token,
//! in the file `tokens.json`, which only its owner may read.

mod file;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use thiserror::Error;

use crate::log::Log;
use crate::words::{Role, Who};

use file::{Stamp, locked, read, stamp, write};
pub use file::{read_private, write_private};

/// Prefix of each token. Secret scanners recognise tokens by this prefix.
const PREFIX: &str = "mks_";
/// Maximum length of the name of a user, in bytes.
const MAX_NAME: usize = 64;

/// The error of an operation on tokens.
#[derive(Debug, Error)]
pub enum TokenError {
    /// A file cannot be read or written.
    #[error("{path}: cannot {doing}: {source}")]
    File {
        /// The path of the file.
        path: String,
        /// The failed operation, such as `read` or `write`.
        doing: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Other users may read a file with secrets.
    #[error("{path}: other users may read this file (mode {mode:o}); run chmod 600 {path}")]
    Open {
        /// The path of the file.
        path: String,
        /// The permissions of the file.
        mode: u32,
    },
    /// A token list is malformed.
    #[error(
        "{path}: this file is not a list of tokens: {message}; restore the file, or remove it and start the service, \
         which then makes a new token"
    )]
    Content {
        /// The path of the file.
        path: String,
        /// The error of the parser.
        message: String,
    },
    /// The name of a user is invalid.
    #[error(
        "`{0}` is not a name of a user; write at most 64 letters, digits, and . _ - + @, of which the first is a letter, a digit or _"
    )]
    User(String),
    /// No token has this id.
    #[error("there is no token `{0}`; `makespan token list` shows them")]
    Unknown(String),
    /// The operating system provides no random numbers.
    #[error("the operating system provides no random numbers: {0}")]
    Random(String),
}

/// The stored data of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRecord {
    /// The id of the token: the first eight characters of its hash.
    pub id: String,
    /// The SHA-256 hash of the token, in hexadecimal digits.
    hash: String,
    /// The user of the token.
    pub user: String,
    /// The permissions of the token.
    pub role: Role,
    /// The instant of creation, in seconds since 1970.
    pub created: u64,
    /// The purpose of the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The tokens of a store in a running service. The service notices tokens that another process adds or removes,
/// without a restart.
pub struct Tokens {
    store: PathBuf,
    seen: Mutex<TokenFileState>,
    log: Log,
}

struct TokenFileState {
    stamp: Option<Stamp>,
    /// The stamp of the last list that could not be read.
    unreadable: Option<Stamp>,
    records: Vec<TokenRecord>,
}

impl Tokens {
    /// Reads the tokens of a store.
    ///
    /// # Errors
    /// [`TokenError`], if the file is damaged or other users may read it.
    pub fn open(store: &Path) -> Result<Self, TokenError> {
        // The list may change between the two calls. With the earlier stamp, it is then read again.
        let before = stamp(store);
        let records = read(store)?;
        let seen = TokenFileState { stamp: before, unreadable: None, records };
        Ok(Self { store: store.to_owned(), seen: Mutex::new(seen), log: Log::default() })
    }

    /// Returns these tokens with a log, which then contains added and removed tokens.
    #[must_use]
    pub fn with_log(self, log: Log) -> Self {
        Self { log, ..self }
    }

    /// Returns the client to which a token belongs, and the id of the token. The comparison takes the same time for
    /// every token, so that it reveals nothing about the stored hashes.
    pub fn who(&self, token: &str) -> Option<(Who, String)> {
        let hash = hash(token);
        let mut found = None;
        for record in &self.fresh().records {
            if bool::from(record.hash.as_bytes().ct_eq(hash.as_bytes())) {
                found = Some((Who { user: record.user.clone(), role: record.role }, record.id.clone()));
            }
        }
        found
    }

    /// Returns true if a token with this id exists.
    pub fn holds(&self, id: &str) -> bool {
        self.fresh().records.iter().any(|record| record.id == id)
    }

    /// Returns the tokens. First checks the metadata of the list, and reads the list again if it has changed, so that a
    /// removed token is refused from its removal on. If the list cannot be read, the earlier tokens remain valid. A
    /// process that removes a token reports an unreadable list itself.
    fn fresh(&self) -> std::sync::MutexGuard<'_, TokenFileState> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(&self.store);
        if now != seen.stamp {
            match read(&self.store) {
                Ok(records) => {
                    self.report(&seen.records, &records);
                    (seen.stamp, seen.unreadable) = (now, None);
                    seen.records = records;
                }
                Err(error) if seen.unreadable != now => {
                    self.log.error(&format!("{error}; the earlier tokens remain valid"));
                    seen.unreadable = now;
                }
                Err(_) => {}
            }
        }
        seen
    }

    /// Writes added and removed tokens to the log.
    fn report(&self, before: &[TokenRecord], now: &[TokenRecord]) {
        for (some, others, what) in [(before, now, "removed"), (now, before, "added")] {
            for token in some.iter().filter(|token| others.iter().all(|other| other.id != token.id)) {
                let role = format!("{:?}", token.role).to_lowercase();
                self.log.notice(&format!("the token {} of {} ({role}) was {what}", token.id, token.user));
            }
        }
    }
}

/// Adds a new token for a user to a store, and returns the token. The token cannot be shown again.
///
/// # Errors
/// [`TokenError`], if no token was added.
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

/// Returns the tokens of a store, the oldest token first.
///
/// # Errors
/// [`TokenError`].
pub fn list(store: &Path) -> Result<Vec<TokenRecord>, TokenError> {
    read(store)
}

/// Removes the token with the given id from a store, and returns its record. A running service refuses the token from then on.
///
/// # Errors
/// [`TokenError`], for example if there is no such token.
pub fn remove(store: &Path, id: &str) -> Result<TokenRecord, TokenError> {
    let _lock = locked(store)?;
    let mut records = read(store)?;
    let place = records.iter().position(|record| record.id == id).ok_or_else(|| TokenError::Unknown(id.to_owned()))?;
    let removed = records.remove(place);
    write(store, &records)?;
    Ok(removed)
}

/// Makes sure that the file `token` of a store contains a valid token with the role admin, by adding a token for
/// `user` if necessary. Returns the path of the file.
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

/// Returns true if a text is a valid name of a user.
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
