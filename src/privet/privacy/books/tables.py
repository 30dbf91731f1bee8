"""The tables of the books, as migrations: each is applied once, in order, under the lock of all writers.

Amounts are the text of a :class:`~privet.privacy.losses.Loss`, so sums are exact. Times are seconds since 1970.
"""

from __future__ import annotations

FIRST = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE people (id TEXT PRIMARY KEY, role TEXT NOT NULL, closed INTEGER NOT NULL)",
    """CREATE TABLE keys (hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, person TEXT NOT NULL REFERENCES people(id),
       kind TEXT NOT NULL, name TEXT NOT NULL, ends DOUBLE PRECISION, revoked INTEGER NOT NULL)""",
    """CREATE TABLE populations (id TEXT PRIMARY KEY, title TEXT NOT NULL, unit TEXT NOT NULL, neighbours TEXT NOT NULL,
       cap TEXT NOT NULL, granted TEXT NOT NULL, seq INTEGER NOT NULL, head TEXT NOT NULL, frozen TEXT)""",
    """CREATE TABLE datasets (id TEXT PRIMARY KEY, population TEXT NOT NULL REFERENCES populations(id),
       schema TEXT NOT NULL, most_records BIGINT NOT NULL, folder TEXT NOT NULL, state TEXT NOT NULL,
       missed INTEGER NOT NULL)""",
    """CREATE TABLE grants (person TEXT NOT NULL REFERENCES people(id),
       population TEXT NOT NULL REFERENCES populations(id), most TEXT NOT NULL, spent TEXT NOT NULL, held TEXT NOT NULL,
       PRIMARY KEY (person, population))""",
    """CREATE TABLE doors (person TEXT NOT NULL REFERENCES people(id), dataset TEXT NOT NULL REFERENCES datasets(id),
       PRIMARY KEY (person, dataset))""",
    """CREATE TABLE jobs (id TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES people(id),
       dataset TEXT NOT NULL REFERENCES datasets(id), population TEXT NOT NULL REFERENCES populations(id),
       idem TEXT NOT NULL, digest TEXT NOT NULL, ask TEXT NOT NULL, loss TEXT NOT NULL, state TEXT NOT NULL,
       attempt INTEGER NOT NULL, server BIGINT NOT NULL, seconds DOUBLE PRECISION NOT NULL,
       asked DOUBLE PRECISION NOT NULL, begun DOUBLE PRECISION, rung INTEGER NOT NULL, noted INTEGER NOT NULL,
       UNIQUE (person, idem))""",
    # Apart from jobs: the time of a change to a job must not tell whether an answer is there, and how long it is.
    "CREATE TABLE answers (job TEXT PRIMARY KEY REFERENCES jobs(id), answer TEXT NOT NULL)",
    "CREATE INDEX jobs_by_state ON jobs (state, server)",
    "CREATE INDEX jobs_by_person ON jobs (person, asked)",
    """CREATE TABLE entries (population TEXT NOT NULL REFERENCES populations(id), seq INTEGER NOT NULL,
       at TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (population, seq))""",
    "CREATE INDEX entries_by_hash ON entries (hash)",
    "CREATE TABLE rehearsals (shape TEXT PRIMARY KEY, seconds DOUBLE PRECISION NOT NULL, loss TEXT NOT NULL)",
)
# What a server looks for every second, and at every question, among all that were ever asked.
SECOND = (
    "CREATE INDEX jobs_to_note ON jobs (state, rung) WHERE noted = 0",
    "CREATE INDEX jobs_waiting ON jobs (person, asked) WHERE state = 'queued'",
)
# A session ends with the key that began it.
THIRD = ("ALTER TABLE keys ADD COLUMN parent TEXT",)
MIGRATIONS = (FIRST, SECOND, THIRD)

# Where an engine lists its tables.
NAMED = {
    "sqlite": "sqlite_master WHERE type = 'table' AND name",
    "postgresql": "pg_tables WHERE schemaname = current_schema() AND tablename",
}

# Entries are only ever added. The chain shows a change; the trigger stops an accident.
APPEND_ONLY = {
    "sqlite": (
        "CREATE TRIGGER IF NOT EXISTS entries_stay BEFORE UPDATE ON entries "
        "BEGIN SELECT RAISE(ABORT, 'entries are only added'); END",
        "CREATE TRIGGER IF NOT EXISTS entries_remain BEFORE DELETE ON entries "
        "BEGIN SELECT RAISE(ABORT, 'entries are only added'); END",
    ),
    "postgresql": (
        "CREATE OR REPLACE FUNCTION privet_entries_stay() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'entries are only added'; END $$",
        "CREATE OR REPLACE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION privet_entries_stay()",
    ),
}
