-- What a ledger is made of; statements stand apart by empty lines. It only grows, which triggers
-- hold: a row of totals, one for each spend with the exact sums of its share and period up to
-- it, and one for its answer and its refund. INSERT OR REPLACE deletes a row without the trigger
-- for it, so each insertion is held to the order of rows, too.
CREATE TABLE totals (
    epsilon REAL NOT NULL CHECK (epsilon > 0),
    delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
    neighbours TEXT NOT NULL,
    terms TEXT NOT NULL,
    identity TEXT NOT NULL DEFAULT (hex(randomblob(16)))
)

CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    epsilon REAL NOT NULL CHECK (epsilon >= 0),
    delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
    rho REAL NOT NULL CHECK (rho >= 0),
    question TEXT NOT NULL DEFAULT '{}',
    time TEXT NOT NULL DEFAULT '',
    mechanism TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT '',
    source_version TEXT NOT NULL DEFAULT '',
    analyst TEXT NOT NULL DEFAULT '',
    share TEXT NOT NULL DEFAULT '',
    period TEXT NOT NULL DEFAULT '',
    key TEXT NOT NULL DEFAULT '',
    token TEXT NOT NULL DEFAULT '',
    steps INTEGER NOT NULL DEFAULT 1 CHECK (typeof(steps) = 'integer' AND steps > 0),
    epsilons TEXT NOT NULL,
    deltas TEXT NOT NULL,
    rhos TEXT NOT NULL,
    CHECK (typeof(epsilon) = 'real' AND typeof(delta) = 'real' AND typeof(rho) = 'real'),
    CHECK (delta > 0 OR (epsilon > 0 AND rho > 0))
)

CREATE TABLE answers (
    sequence INTEGER NOT NULL,
    is_last INTEGER NOT NULL CHECK (is_last IN (0, 1)),
    token TEXT NOT NULL,
    answer TEXT NOT NULL,
    shown TEXT,
    release TEXT,
    PRIMARY KEY (sequence, is_last)
)

CREATE TABLE refunds (
    number INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL UNIQUE,
    epsilon REAL NOT NULL CHECK (typeof(epsilon) = 'real' AND epsilon > 0),
    refunds TEXT NOT NULL,
    share TEXT NOT NULL DEFAULT '',
    period TEXT NOT NULL DEFAULT ''
)

CREATE INDEX entries_of ON entries (period, share)

CREATE INDEX refunds_of ON refunds (period, share)

CREATE INDEX entries_like ON entries (key) WHERE key <> ''

CREATE TRIGGER totals_no_UPDATE BEFORE UPDATE ON totals
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER totals_no_DELETE BEFORE DELETE ON totals
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER totals_in_order BEFORE INSERT ON totals WHEN EXISTS (SELECT * FROM totals)
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER entries_no_UPDATE BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER entries_no_DELETE BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER answers_no_UPDATE BEFORE UPDATE ON answers
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER answers_no_DELETE BEFORE DELETE ON answers
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER answers_in_order BEFORE INSERT ON answers
WHEN NEW.is_last <= (SELECT max(is_last) FROM answers WHERE sequence = NEW.sequence)
    OR NEW.token IS NOT (SELECT token FROM entries WHERE sequence = NEW.sequence)
BEGIN SELECT RAISE(ABORT, 'an entry has one answer'); END

CREATE TRIGGER refunds_no_UPDATE BEFORE UPDATE ON refunds
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER refunds_no_DELETE BEFORE DELETE ON refunds
BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END

CREATE TRIGGER refunds_in_order BEFORE INSERT ON refunds
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM refunds)
    OR EXISTS (SELECT * FROM refunds WHERE sequence = NEW.sequence)
    OR NOT EXISTS (
        SELECT * FROM entries WHERE sequence = NEW.sequence AND epsilon >= NEW.epsilon
    )
BEGIN SELECT RAISE(ABORT, 'a spend is refunded once'); END
