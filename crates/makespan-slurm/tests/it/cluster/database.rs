//! A real accounting database for tests: mariadbd and slurmdbd in a temporary folder. Clusters with these accounts find
//! each other by name (`-M`). It needs Debian's packages `slurmdbd` and `mariadb-server` and no special rights.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::configuration::said_by;
use super::ports::Ports;
use super::{daemon, found, keeper, logs, new_folder, skipped, start_munged};

/// Programs that must be installed.
const PROGRAMS: [&str; 6] = ["slurmctld", "munged", "slurmdbd", "mariadbd", "mariadb-install-db", "mariadb"];

/// A running database.
pub struct AccountingDatabase {
    folder: PathBuf,
    /// A process that stops the database when its standard input closes.
    keeper: Child,
    ports: Ports,
}

impl AccountingDatabase {
    /// Starts a database. Returns `None`, and prints a message, if a program is not installed.
    pub fn start() -> Option<Self> {
        if let Some(missing) = PROGRAMS.into_iter().find(|name| found(name).is_none()) {
            skipped(&format!(
                "SKIPPED: a test with accounts of Slurm, for want of `{missing}`: apt install slurmdbd mariadb-server"
            ));
            return None;
        }
        let folder = new_folder();
        fs::create_dir(folder.join("db")).expect("a folder is made");
        let database = Self { keeper: keeper(&folder), folder, ports: Ports::take(1) };
        start_munged(&database.folder);
        database.start_mariadb();
        database.start_slurmdbd();
        Some(database)
    }

    /// Returns the lines of a `slurm.conf` for a cluster with this name.
    pub fn lines(&self, cluster: &str) -> String {
        let munge = self.folder.join("munge/sock");
        format!(
            "ClusterName={cluster}\nAuthInfo=socket={0}\nAccountingStorageType=accounting_storage/slurmdbd\n\
             AccountingStorageHost=127.0.0.1\nAccountingStoragePort={1}\nAccountingStoragePass={0}\n",
            munge.display(),
            self.ports.at(0)
        )
    }

    fn start_mariadb(&self) {
        let path = |name: &str| self.folder.join(name).display().to_string();
        let user = said_by("id", &["-un"]);
        let mut install = Command::new(found("mariadb-install-db").expect("it is installed"));
        install.args(["--no-defaults", "--auth-root-authentication-method=socket", "--skip-test-db"]);
        install.args([
            format!("--user={user}"),
            format!("--auth-root-socket-user={user}"),
            format!("--datadir={}", path("db")),
        ]);
        daemon(&self.folder, install, "mariadb-install-db");
        let mut server = Command::new(found("mariadbd").expect("it is installed"));
        server.args([
            "--no-defaults",
            "--skip-networking",
            "--innodb-buffer-pool-size=64M",
            "--innodb-lock-wait-timeout=900",
        ]);
        for (option, value) in [
            ("user", user.clone()),
            ("datadir", path("db")),
            ("socket", path("db/sock")),
            ("pid-file", path("pid/mariadbd")),
            ("log-error", path("log/mariadbd.log")),
        ] {
            server.arg(format!("--{option}={value}"));
        }
        // The keeper stops the server by the id in its file.
        server.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        drop(server.spawn().expect("a daemon starts"));
        self.wait("mariadbd", || {
            let mut client = Command::new(found("mariadb").expect("it is installed"));
            client.args(["--no-defaults", "-u", "root", "-e", "create database if not exists slurm_acct_db"]);
            client.arg(format!("--socket={}", path("db/sock"))).stderr(Stdio::null());
            client.status().is_ok_and(|status| status.success())
        });
    }

    fn start_slurmdbd(&self) {
        let (place, user) = (self.folder.display(), said_by("id", &["-un"]));
        let port = self.ports.at(0);
        let text = format!(
            "AuthType=auth/munge\nAuthInfo=socket={place}/munge/sock\nDbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort={port}\n\
             SlurmUser={user}\nLogFile={place}/log/slurmdbd.log\nPidFile={place}/pid/slurmdbd\n\
             StorageType=accounting_storage/mysql\nStorageHost=localhost\nStorageUser=root\nStorageLoc=slurm_acct_db\n"
        );
        let path = self.folder.join("slurmdbd.conf");
        fs::write(&path, text).expect("a configuration is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a configuration is closed");
        let mut slurmdbd = Command::new(found("slurmdbd").expect("it is installed"));
        slurmdbd.env("SLURM_CONF", &path).env("MYSQL_UNIX_PORT", self.folder.join("db/sock")).stdin(Stdio::null());
        daemon(&self.folder, slurmdbd, "slurmdbd");
        self.wait("slurmdbd", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    }

    fn wait(&self, name: &str, mut is_ready: impl FnMut() -> bool) {
        let give_up = Instant::now() + Duration::from_mins(1);
        while !is_ready() {
            assert!(Instant::now() < give_up, "{name} is not ready after 60 s{}", logs(&self.folder));
            std::thread::sleep(Duration::from_millis(25));
        }
    }
}

impl Drop for AccountingDatabase {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        drop(self.keeper.wait());
    }
}
