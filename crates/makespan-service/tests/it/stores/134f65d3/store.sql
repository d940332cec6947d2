PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE counts (
         user TEXT NOT NULL,
         state TEXT NOT NULL,
         jobs INTEGER NOT NULL,
         PRIMARY KEY (user, state)
     ) STRICT, WITHOUT ROWID;
INSERT INTO "counts" VALUES('root','failed',1);
INSERT INTO "counts" VALUES('root','held',1);
INSERT INTO "counts" VALUES('root','running',0);
INSERT INTO "counts" VALUES('root','succeeded',3);
INSERT INTO "counts" VALUES('root','waiting',1);
CREATE TABLE handed (
         position INTEGER PRIMARY KEY AUTOINCREMENT,
         round INTEGER NOT NULL REFERENCES rounds (round),
         job INTEGER NOT NULL REFERENCES jobs (number),
         name TEXT NOT NULL,
         tasks INTEGER NOT NULL,
         total INTEGER NOT NULL,
         weight INTEGER NOT NULL,
         release INTEGER NOT NULL,
         deadline INTEGER,
         after TEXT NOT NULL,
         withdrawn INTEGER NOT NULL DEFAULT 0
     ) STRICT;
INSERT INTO "handed" VALUES(1,1,1,'1',1,60000000000,1000000,0,NULL,'[]',0);
INSERT INTO "handed" VALUES(2,1,2,'2',1,120000000000,1000000,0,NULL,'[]',0);
INSERT INTO "handed" VALUES(3,1,5,'5',1,180000000000,250000,0,NULL,'[]',0);
INSERT INTO "handed" VALUES(4,1,6,'6',1,240000000000,166666,0,NULL,'[]',0);
CREATE TABLE happenings (
         sequence INTEGER PRIMARY KEY,
         at REAL NOT NULL,
         job INTEGER NOT NULL,
         user TEXT NOT NULL,
         task INTEGER,
         kind TEXT NOT NULL,
         state TEXT NOT NULL
     ) STRICT;
INSERT INTO "happenings" VALUES(1,1.79595721178306317331e+09,1,'root',NULL,'submitted','waiting');
INSERT INTO "happenings" VALUES(2,1.79595721180315232275e+09,1,'root',NULL,'started','running');
INSERT INTO "happenings" VALUES(3,1.79595721180467081065e+09,2,'root',NULL,'submitted','waiting');
INSERT INTO "happenings" VALUES(4,1.79595721180934596054e+09,2,'root',NULL,'started','running');
INSERT INTO "happenings" VALUES(5,1.79595721182895421983e+09,1,'root',NULL,'ended','succeeded');
INSERT INTO "happenings" VALUES(6,1.79595721183106970782e+09,2,'root',NULL,'ended','failed');
INSERT INTO "happenings" VALUES(7,1.79595721185963726044e+09,3,'root',NULL,'submitted','held');
INSERT INTO "happenings" VALUES(8,1.79595721188924145701e+09,4,'root',NULL,'submitted','waiting');
INSERT INTO "happenings" VALUES(9,1.79595721191467809678e+09,5,'root',NULL,'submitted','waiting');
INSERT INTO "happenings" VALUES(10,1.79595721191468238831e+09,6,'root',NULL,'submitted','waiting');
INSERT INTO "happenings" VALUES(11,1.79595721192282700541e+09,5,'root',NULL,'started','running');
INSERT INTO "happenings" VALUES(12,1.79595721192285156251e+09,6,'root',NULL,'started','running');
INSERT INTO "happenings" VALUES(13,1.7959572119266052246e+09,5,'root',NULL,'ended','succeeded');
INSERT INTO "happenings" VALUES(14,1.7959572119462337494e+09,6,'root',NULL,'ended','succeeded');
CREATE TABLE jobs (
         number INTEGER PRIMARY KEY AUTOINCREMENT,
         user TEXT NOT NULL,
         name TEXT NOT NULL,
         state TEXT NOT NULL,
         submitted REAL NOT NULL,
         weight REAL NOT NULL,
         priority INTEGER NOT NULL,
         deadline REAL,
         begin REAL,
         directory TEXT,
         environment TEXT NOT NULL,
         spec TEXT NOT NULL,
         processors INTEGER NOT NULL,
         length INTEGER NOT NULL,
         tasks INTEGER NOT NULL,
         held INTEGER NOT NULL,
         cancelled INTEGER NOT NULL DEFAULT 0,
         running INTEGER NOT NULL DEFAULT 0,
         succeeded INTEGER NOT NULL DEFAULT 0,
         failed INTEGER NOT NULL DEFAULT 0,
         timed_out INTEGER NOT NULL DEFAULT 0,
         not_started INTEGER NOT NULL DEFAULT 0,
         started REAL,
         ended REAL,
         reason TEXT
     ) STRICT;
INSERT INTO "jobs" VALUES(1,'root','first','succeeded',1.79595721178294849399e+09,1.0,0,NULL,NULL,'/','{}','{"jobs":[{"command":"echo one","name":"first","processors":1}],"version":2}',1,60000000000,1,0,0,0,1,0,0,0,1.79595721179534721376e+09,1.79595721182670640947e+09,NULL);
INSERT INTO "jobs" VALUES(2,'root','fails','failed',1.79595721180463719366e+09,1.0,0,NULL,NULL,'/','{}','{"jobs":[{"command":"echo broken >&2; exit 3","name":"fails","processors":1}],"version":2}',1,60000000000,1,0,0,0,0,1,0,0,1.79595721180898451802e+09,1795957211.82991,'it returned exit status 3');
INSERT INTO "jobs" VALUES(3,'root','held','held',1.79595721185957694051e+09,1.0,0,NULL,NULL,'/','{}','{"jobs":[{"command":"echo held","name":"held","processors":1}],"version":2}',1,60000000000,1,1,0,0,0,0,0,0,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(4,'root','behind','waiting',1.79595721188916563988e+09,1.0,0,NULL,NULL,'/','{}','{"jobs":[{"command":"echo behind","name":"behind","processors":1}],"version":2}',1,60000000000,1,0,0,0,0,0,0,0,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(5,'root','1-echo-a','succeeded',1.79595721191461086272e+09,1.0,0,NULL,NULL,'/','{}','{"jobs":[{"command":"echo a","name":"1-echo-a","processors":1}],"version":2}',1,60000000000,1,0,0,0,1,0,0,0,1.79595721192068099973e+09,1.79595721192591309552e+09,NULL);
INSERT INTO "jobs" VALUES(6,'root','2-echo-b','succeeded',1.79595721191461086272e+09,1.0,0,NULL,NULL,'/','{}','{"jobs":[{"command":"echo b","name":"2-echo-b","processors":1}],"version":2}',1,60000000000,1,0,0,0,1,0,0,0,1.79595721192087745664e+09,1.79595721194326901431e+09,NULL);
CREATE TABLE keys (
         user TEXT NOT NULL,
         key TEXT NOT NULL,
         digest TEXT NOT NULL,
         receipts TEXT NOT NULL,
         at REAL NOT NULL,
         PRIMARY KEY (user, key)
     ) STRICT, WITHOUT ROWID;
INSERT INTO "keys" VALUES('root','5ae6eaa2a9d6676f53ec12dcac6b41ad','876139e918961cb7a23ba0969e54cfa03474afbcb8a8b49caf5945311d926975','[{"jobs":[2],"submitted":1795957211.8046372,"remarks":[]}]',1.79595721180484271047e+09);
INSERT INTO "keys" VALUES('root','68e39ffd5873db3370f0a434f12fdb19','e75ec8566910a52a2b5d5cfa05b272418712bd53e9249b0e63c6976604fe3ba8','[{"jobs":[3],"submitted":1795957211.859577,"remarks":[]}]',1795957211.8597);
INSERT INTO "keys" VALUES('root','6a4a16fb15c89642312fe79b42a51ea0','78d1cf9635e3c3be2803406edac53c651d5c4ffdd86ed4b275f84ddbf40ce222','[{"jobs":[4],"submitted":1795957211.8891656,"remarks":[]}]',1.79595721188942170141e+09);
INSERT INTO "keys" VALUES('root','6ced34d20f11cf45e7341c9a525f6993','dfd4542a81a05ae45242fabfe4e73209b259ef69a883096b8ba682b29c681cbf','[{"jobs":[5,6],"submitted":1795957211.9146109,"remarks":[]}]',1.79595721191495633125e+09);
INSERT INTO "keys" VALUES('root','d8e23558cc33c5b55f3ea5e9c8524ab6','7cfdffcd1c048847344d83aeac980c1d82e14234b1dd4c8a8f6aafb5681709a3','[{"jobs":[1],"submitted":1795957211.7829485,"remarks":[]}]',1.79595721178359794614e+09);
CREATE TABLE reservations (
         number INTEGER PRIMARY KEY AUTOINCREMENT,
         name TEXT NOT NULL,
         start REAL NOT NULL,
         stop REAL NOT NULL,
         processors TEXT NOT NULL
     ) STRICT;
CREATE TABLE rounds (
         round INTEGER PRIMARY KEY,
         began REAL NOT NULL,
         platform TEXT NOT NULL
     ) STRICT;
INSERT INTO "rounds" VALUES(1,1.79595721031694746019e+09,'8019cd2ba0f05248fdd0e9c9ae643c386fd303c9cdf41be4dc2417356ee73468');
CREATE TABLE tasks (
         job INTEGER NOT NULL REFERENCES jobs (number),
         task INTEGER NOT NULL,
         state TEXT NOT NULL,
         started REAL,
         ended REAL,
         processors TEXT,
         width INTEGER,
         nodes TEXT,
         output TEXT,
         attempts INTEGER NOT NULL DEFAULT 0,
         exit INTEGER,
         memory INTEGER,
         reason TEXT,
         PRIMARY KEY (job, task)
     ) STRICT, WITHOUT ROWID;
INSERT INTO "tasks" VALUES(1,0,'succeeded',1.79595721179534721376e+09,1.79595721182670640947e+09,'0',1,'cluster','1',1,0,3014656,NULL);
INSERT INTO "tasks" VALUES(2,0,'failed',1.79595721180898451802e+09,1795957211.82991,'1',1,'cluster','2',1,3,3006464,'it returned exit status 3');
INSERT INTO "tasks" VALUES(5,0,'succeeded',1.79595721192068099973e+09,1.79595721192591309552e+09,'0',1,'cluster','5',1,0,3035136,NULL);
INSERT INTO "tasks" VALUES(6,0,'succeeded',1.79595721192087745664e+09,1.79595721194326901431e+09,'1',1,'cluster','6',1,0,3108864,NULL);
CREATE TABLE users (
         user TEXT PRIMARY KEY,
         weight REAL NOT NULL DEFAULT 1,
         most_waiting INTEGER,
         most_processors INTEGER,
         used REAL NOT NULL DEFAULT 0,
         recent REAL NOT NULL DEFAULT 0,
         recent_at REAL NOT NULL DEFAULT 0
     ) STRICT, WITHOUT ROWID;
INSERT INTO "users" VALUES('ann',2.0,50,1,0.0,0.0,1.79595721200504827496e+09);
INSERT INTO "users" VALUES('root',1.0,NULL,NULL,7.99083709716796875e-02,7.9908363874071852706e-02,1.795957211946180582e+09);
CREATE TABLE waits (
         job INTEGER NOT NULL REFERENCES jobs (number),
         before INTEGER NOT NULL REFERENCES jobs (number),
         PRIMARY KEY (job, before)
     ) STRICT, WITHOUT ROWID;
INSERT INTO "waits" VALUES(4,3);
CREATE INDEX jobs_by_user ON jobs (user, state, number);
CREATE INDEX waits_by_before ON waits (before);
CREATE INDEX handed_by_job ON handed (job);
CREATE INDEX tasks_by_state ON tasks (state);
CREATE TRIGGER counts_of_new AFTER INSERT ON jobs BEGIN
         INSERT INTO counts VALUES (new.user, new.state, 1) ON CONFLICT (user, state) DO UPDATE SET jobs = jobs + 1;
     END;
CREATE TRIGGER counts_of_changed AFTER UPDATE OF state ON jobs WHEN old.state <> new.state BEGIN
         UPDATE counts SET jobs = jobs - 1 WHERE user = old.user AND state = old.state;
         INSERT INTO counts VALUES (new.user, new.state, 1) ON CONFLICT (user, state) DO UPDATE SET jobs = jobs + 1;
     END;
CREATE INDEX jobs_by_state ON jobs (state, number, user, name);
CREATE INDEX jobs_by_submission ON jobs (submitted, user);
CREATE INDEX jobs_by_start ON jobs (started, submitted, user) WHERE started IS NOT NULL;
CREATE INDEX jobs_by_end ON jobs (ended, state, user) WHERE ended IS NOT NULL;
CREATE INDEX tasks_by_end ON tasks (ended, started, width) WHERE ended IS NOT NULL;
CREATE INDEX keys_by_time ON keys (at);
CREATE TRIGGER counts_of_forgotten AFTER DELETE ON jobs BEGIN
         UPDATE counts SET jobs = jobs - 1 WHERE user = old.user AND state = old.state;
     END;
CREATE INDEX handed_by_round ON handed (round);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('jobs',6);
INSERT INTO "sqlite_sequence" VALUES('handed',4);
COMMIT;
PRAGMA application_id = 1298887542;
PRAGMA user_version = 3;
