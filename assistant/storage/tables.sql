-- The tables, in the order in which versions of this program added them. Nothing is ever taken away: what already exists is left
-- as it is, so a database of an older version goes on. A statement ends with a line that ends in a semicolon.
-- carried: the text of attachments of turns that are not answered, packed: another machine may have to finish them.
CREATE TABLE IF NOT EXISTS turns (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL, attachments TEXT NOT NULL,
    answer TEXT, tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread, turn));
CREATE TABLE IF NOT EXISTS titles (thread TEXT PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS carried (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, path TEXT NOT NULL, packed TEXT NOT NULL,
    PRIMARY KEY (thread, turn, path));
-- Failures that people asked about (kind ticket) and of reports (kind job). who: a pseudonym. said, asked: the words
-- of the telling line and of the question, as the ids of their texts. noticed: incidents were looked for.
CREATE TABLE IF NOT EXISTS diagnoses (
    key TEXT PRIMARY KEY, thread TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL,
    who TEXT NOT NULL, place TEXT NOT NULL, private INTEGER NOT NULL, said BIGINT NOT NULL, asked BIGINT NOT NULL,
    cause TEXT NOT NULL, signature TEXT NOT NULL, record TEXT NOT NULL, says TEXT NOT NULL, fix TEXT NOT NULL,
    rating TEXT NOT NULL DEFAULT '', cure TEXT NOT NULL DEFAULT '', noticed INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS diagnoses_said ON diagnoses (said, at);
CREATE INDEX IF NOT EXISTS diagnoses_asked ON diagnoses (asked, at);
CREATE INDEX IF NOT EXISTS diagnoses_rated ON diagnoses (said, at) WHERE rating <> '';
CREATE INDEX IF NOT EXISTS diagnoses_answered ON diagnoses (asked, at) WHERE rating <> '';
CREATE INDEX IF NOT EXISTS diagnoses_cured ON diagnoses (signature, at) WHERE rating <> '';
CREATE INDEX IF NOT EXISTS diagnoses_at ON diagnoses (kind, at);
CREATE INDEX IF NOT EXISTS diagnoses_new ON diagnoses (at) WHERE noticed = 0;
CREATE INDEX IF NOT EXISTS diagnoses_thread ON diagnoses (thread);
CREATE TABLE IF NOT EXISTS texts (id BIGINT PRIMARY KEY, words TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS text_bands (band BIGINT NOT NULL, text BIGINT NOT NULL, PRIMARY KEY (band, text));
-- Who was seen with what, and how many people an hour showed it (the subject kind `all`: anything at all).
CREATE TABLE IF NOT EXISTS sightings (
    source TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, key TEXT NOT NULL,
    who TEXT NOT NULL, cause TEXT NOT NULL, PRIMARY KEY (source, kind, name, at, key));
CREATE TABLE IF NOT EXISTS sighting_hours (
    source TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, hour BIGINT NOT NULL, people INTEGER NOT NULL,
    PRIMARY KEY (source, kind, name, hour));
-- body: graph/incidents/incident.py as JSON. version: raised by each change; shown: the one that the team's channel
-- shows, at the message `ts`.
CREATE TABLE IF NOT EXISTS incidents (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, last DOUBLE PRECISION NOT NULL, version INTEGER NOT NULL,
    shown INTEGER NOT NULL DEFAULT 0, ts TEXT NOT NULL DEFAULT '', body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS incidents_state ON incidents (state);
-- The machines that a person has, ids joined by commas. who: a pseudonym; empty: the one person of this data folder.
CREATE TABLE IF NOT EXISTS own_machines (who TEXT PRIMARY KEY, machines TEXT NOT NULL);
-- One row, changed first by whoever looks for incidents: others wait for it. salt: makes pseudonyms this site's own.
CREATE TABLE IF NOT EXISTS incident_watch (id INTEGER PRIMARY KEY, looks BIGINT NOT NULL, salt TEXT NOT NULL);
