"""The database file: made from schema.sql when new, checked and brought up to date when not."""

import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path

from journal_api.database.backup import copied, give_name, name_before, sync
from journal_api.database.journal_file import has_other_names
from journal_api.database.lock import without_server
from journal_api.database.schemas import require_schema, run, schema
from journal_api.errors import DatabaseRefused
from journal_api.settings import Settings
from journal_api.values.clock import now

APPLICATION_ID = 0x4A524E4C  # "JRNL"
# The SQL that leads from version n to n + 1 stands at index n - 1.
MIGRATIONS: tuple[str, ...] = (
    # 2: what an import needs to update trades, to span accounts and to be taken back; idempotency keys.
    """
    CREATE TABLE new_imports (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
      format TEXT NOT NULL,
      file_name TEXT,
      sha256 TEXT NOT NULL,
      timezone TEXT NOT NULL,
      added INTEGER NOT NULL,
      updated INTEGER NOT NULL,
      duplicates INTEGER NOT NULL,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT;
    INSERT INTO sqlite_sequence (name, seq)
    SELECT 'new_imports', seq FROM sqlite_sequence WHERE name = 'imports';
    INSERT INTO new_imports
    SELECT id, user_id, account_id, format, file_name, sha256, timezone, added, 0, duplicates, created_at,
        created_at
    FROM imports;
    DROP TABLE imports;
    ALTER TABLE new_imports RENAME TO imports;
    CREATE INDEX imports_of_user ON imports (user_id, id);
    CREATE INDEX imports_of_account ON imports (account_id);

    ALTER TABLE trades ADD COLUMN content BLOB;

    CREATE TABLE import_updates (
      import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
      trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
      written_at TEXT NOT NULL,
      symbol TEXT NOT NULL,
      direction TEXT NOT NULL,
      quantity INTEGER NOT NULL,
      multiplier INTEGER NOT NULL,
      entry_price INTEGER NOT NULL,
      exit_price INTEGER,
      opened_at TEXT NOT NULL,
      closed_at TEXT,
      gross_pnl INTEGER,
      fees INTEGER NOT NULL,
      content BLOB NOT NULL,
      updated_at TEXT NOT NULL,
      PRIMARY KEY (import_id, trade_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX import_updates_of_trade ON import_updates (trade_id);

    CREATE TABLE idempotency_keys (
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      key TEXT NOT NULL,
      fingerprint BLOB NOT NULL,
      status INTEGER NOT NULL,
      headers TEXT NOT NULL,
      content BLOB NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (user_id, key)
    ) STRICT;
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
    """,
    # 3: so that nothing grows with the journal that need not: lists by their own indexes, narrow keys of
    # snapshots, imports that know what is left of them, days that are marked once.
    """
    ALTER TABLE imports ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
    UPDATE imports SET deleted = added - (SELECT count(*) FROM trades WHERE import_id = imports.id);
    CREATE TRIGGER imports_of_deleted_trade AFTER DELETE ON trades
    WHEN old.import_id IS NOT NULL
    BEGIN
      UPDATE imports SET deleted = deleted + 1 WHERE id = old.import_id;
    END;

    CREATE INDEX trades_of_account ON trades (account_id, opened_at, id);
    CREATE INDEX trades_of_symbol ON trades (user_id, symbol, opened_at, id);
    CREATE INDEX trades_of_grade ON trades (user_id, grade, opened_at, id) WHERE grade IS NOT NULL;
    CREATE INDEX trades_open ON trades (user_id, opened_at, id) WHERE closed_at IS NULL;
    CREATE INDEX trades_breakeven ON trades (user_id, opened_at, id) WHERE net_pnl = 0;

    CREATE TABLE new_snapshots (
      goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
      period_start TEXT NOT NULL,
      period_end TEXT NOT NULL,
      target INTEGER NOT NULL,
      actual INTEGER,
      achieved INTEGER CHECK (achieved IN (0, 1)),
      closed INTEGER NOT NULL CHECK (closed IN (0, 1)),
      snapshot_data TEXT NOT NULL,
      computed_at TEXT NOT NULL,
      PRIMARY KEY (goal_id, period_start)
    ) STRICT;
    INSERT INTO new_snapshots SELECT * FROM snapshots;
    DROP TABLE snapshots;
    ALTER TABLE new_snapshots RENAME TO snapshots;

    CREATE INDEX goals_by_seen_change ON goals (seen_change);
    DROP TRIGGER marks_are_changes;
    CREATE TRIGGER marks_are_changes INSTEAD OF INSERT ON marks
    WHEN new.trading_day IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM changes
                     WHERE account_id = new.account_id
                       AND trading_day = new.trading_day
                       AND sequence > (SELECT coalesce(max(seen_change), 0) FROM goals))
    BEGIN
      DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
      INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
    END;
    """,
    # 4: the balances of a goal in columns of their own; the change log under its new names.
    """
    DROP INDEX goals_by_seen_change;
    DROP VIEW marks;
    DROP TRIGGER changes_of_inserted_trade;
    DROP TRIGGER changes_of_deleted_trade;
    DROP TRIGGER changes_of_updated_trade;
    DROP TRIGGER changes_of_tagged_trade;
    DROP TRIGGER changes_of_untagged_trade;
    DROP TRIGGER changes_of_tag_type;
    DROP TRIGGER changes_of_new_answer;
    DROP TRIGGER changes_of_answer;
    DROP TRIGGER changes_of_deleted_answer;
    DROP TRIGGER goals_redefined;
    DROP TRIGGER goals_of_calendar;
    DROP TRIGGER goals_of_selection;
    DROP TRIGGER goals_of_new_member;
    DROP TRIGGER goals_of_former_member;
    DROP TRIGGER goals_of_moved_member;
    DROP TRIGGER goals_of_new_balance;
    DROP TRIGGER goals_of_changed_balance;
    DROP TRIGGER goals_of_deleted_account;

    ALTER TABLE goals RENAME COLUMN seen_change TO change_cursor;
    ALTER TABLE goals RENAME COLUMN fresh_on TO evaluated_on;
    ALTER TABLE goals ADD COLUMN carries_balance INTEGER NOT NULL DEFAULT 0 CHECK (carries_balance IN (0, 1));
    UPDATE goals SET carries_balance = 1, change_cursor = NULL WHERE metric = 'balance_target';
    ALTER TABLE snapshots ADD COLUMN opening_balance INTEGER;
    ALTER TABLE snapshots ADD COLUMN closing_balance INTEGER;

    CREATE INDEX goals_by_change_cursor ON goals (change_cursor);
    CREATE VIEW touched_days (account_id, trading_day) AS
    SELECT account_id, trading_day FROM changes WHERE account_id IS NOT NULL;
    CREATE TRIGGER touched_days_are_changes INSTEAD OF INSERT ON touched_days
    WHEN new.trading_day IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM changes
                     WHERE account_id = new.account_id
                       AND trading_day = new.trading_day
                       AND sequence > (SELECT coalesce(max(change_cursor), 0) FROM goals))
    BEGIN
      DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
      INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
    END;
    CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
    BEGIN
      INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
    END;
    CREATE TRIGGER changes_of_deleted_trade AFTER DELETE ON trades
    BEGIN
      INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
    END;
    CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
    WHEN (old.account_id, old.trading_day, old.closed_at, old.gross_pnl, old.fees, old.initial_risk,
          old.grade, old.setup_id, old.source_trade_id)
     IS NOT (new.account_id, new.trading_day, new.closed_at, new.gross_pnl, new.fees, new.initial_risk,
          new.grade, new.setup_id, new.source_trade_id)
    BEGIN
      INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
      INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
    END;
    CREATE TRIGGER changes_of_tagged_trade AFTER INSERT ON trade_tags
    WHEN EXISTS (SELECT 1 FROM tags WHERE id = new.tag_id AND type = 'mistake')
    BEGIN
      INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
    END;
    CREATE TRIGGER changes_of_untagged_trade AFTER DELETE ON trade_tags
    BEGIN
      INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
    END;
    CREATE TRIGGER changes_of_tag_type AFTER UPDATE OF type ON tags
    WHEN old.type <> new.type
    BEGIN
      INSERT INTO touched_days
      SELECT DISTINCT account_id, trading_day FROM trade_tags JOIN trades ON trades.id = trade_id
      WHERE tag_id = new.id;
    END;
    CREATE TRIGGER changes_of_new_answer AFTER INSERT ON confirmation_answers
    BEGIN
      INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
    END;
    CREATE TRIGGER changes_of_answer AFTER UPDATE OF was_present ON confirmation_answers
    WHEN old.was_present <> new.was_present
    BEGIN
      INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
    END;
    CREATE TRIGGER changes_of_deleted_answer AFTER DELETE ON confirmation_answers
    BEGIN
      INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
    END;
    CREATE TRIGGER goals_redefined AFTER UPDATE OF
      metric, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection
      ON goals
    BEGIN
      UPDATE goals SET change_cursor = NULL WHERE id = new.id;
    END;
    CREATE TRIGGER goals_of_calendar AFTER UPDATE OF timezone, day_rollover ON users
    BEGIN
      UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
    END;
    CREATE TRIGGER goals_of_selection AFTER UPDATE OF active_account_id, active_copy_group_id ON users
    BEGIN
      UPDATE goals SET change_cursor = NULL WHERE user_id = new.id AND follows_selection;
    END;
    CREATE TRIGGER goals_of_new_member AFTER INSERT ON copy_group_members
    BEGIN
      UPDATE goals SET change_cursor = NULL
      WHERE copy_group_id = new.copy_group_id
         OR (follows_selection
             AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = new.copy_group_id));
    END;
    CREATE TRIGGER goals_of_former_member AFTER DELETE ON copy_group_members
    BEGIN
      UPDATE goals SET change_cursor = NULL
      WHERE copy_group_id = old.copy_group_id
         OR (follows_selection
             AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = old.copy_group_id));
    END;
    CREATE TRIGGER goals_of_moved_member AFTER UPDATE OF copy_group_id ON copy_group_members
    BEGIN
      UPDATE goals SET change_cursor = NULL
      WHERE copy_group_id IN (old.copy_group_id, new.copy_group_id)
         OR (follows_selection
             AND user_id IN (SELECT id FROM users
                             WHERE active_copy_group_id IN (old.copy_group_id, new.copy_group_id)));
    END;
    CREATE TRIGGER goals_of_new_balance AFTER INSERT ON accounts
    BEGIN
      UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
    END;
    CREATE TRIGGER goals_of_changed_balance AFTER UPDATE OF starting_balance ON accounts
    WHEN old.starting_balance <> new.starting_balance
    BEGIN
      UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
    END;
    CREATE TRIGGER goals_of_deleted_account AFTER DELETE ON accounts
    BEGIN
      UPDATE goals SET change_cursor = NULL WHERE user_id = old.user_id;
    END;
    """,
)
VERSION = 1 + len(MIGRATIONS)


def prepare(settings: Settings) -> None:
    """Leave a database of the current version at `settings.db`, with at least its owner.

    Raises DatabaseRefused, the file untouched, when it belongs to something else or to a newer release.
    """
    path = settings.db
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            path.touch(mode=0o600)
        if has_other_names(path):
            with without_server(path):
                pass  # it leaves one name or refuses the file
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as witness,
            closing(sqlite3.connect(path, isolation_level=None)) as db,
        ):
            db.execute("PRAGMA busy_timeout = 10000")
            db.execute("PRAGMA trusted_schema = OFF")
            # The last to close would fold the log into the file, but one that only reads cannot: so a file
            # that is refused stays as it is.
            for connection in (db, witness):
                connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
            bring_up_to_date(db, settings)
    except (OSError, sqlite3.Error, DatabaseRefused) as error:
        raise DatabaseRefused(f"{path}: {error}") from error


def bring_up_to_date(db: sqlite3.Connection, settings: Settings) -> None:
    db.execute("BEGIN")
    version = known_version(db)
    db.execute("ROLLBACK")
    if version == VERSION:
        return
    # A server of an older release goes on with the schema that it knows.
    with without_server(settings.db) if version else nullcontext():
        migrate(db, settings)


def migrate(db: sqlite3.Connection, settings: Settings) -> None:
    db.execute("PRAGMA foreign_keys = OFF")  # rebuilding a table would delete its children
    db.execute("BEGIN IMMEDIATE")
    try:
        # Asked again: another process may have done it while this one waited for the lock.
        version = known_version(db)
        if version == 0:
            create(db, settings)
        elif version < VERSION:
            keep_copy(settings.db.resolve())
            for script in MIGRATIONS[version - 1 :]:
                run(db, script)
        if db.execute("PRAGMA foreign_key_check").fetchone():
            raise DatabaseRefused("the database holds rows that point nowhere; nothing was changed")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def keep_copy(file: Path) -> None:
    """A backup beside the file; nobody else can write meanwhile. Raises DatabaseRefused when it fails."""
    try:
        path = name_before(file, f"schema-{VERSION}")
        with copied(file, path) as copy:
            give_name(copy, path)
        sync(path.parent)
    except (OSError, sqlite3.Error, DatabaseRefused) as error:
        raise DatabaseRefused(
            f"it has to be brought up to schema {VERSION}, but first a backup, which failed: {error}"
        ) from error


def known_version(db: sqlite3.Connection) -> int:
    """The schema version of a file that has exactly that schema, 0 for an empty one.

    Raises DatabaseRefused for any other. In a transaction, so that both are of one moment.
    """
    version = version_of(db)
    if version:
        require_schema(db, version)
    return version


def version_of(db: sqlite3.Connection) -> int:
    """The schema version of the file, 0 for an empty one; raises DatabaseRefused for a foreign one."""
    # In one statement, so that all three are of one moment.
    application_id, version, has_tables = db.execute(
        """
        SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_schema)
        FROM pragma_application_id, pragma_user_version
        """
    ).fetchone()
    if (application_id, version, has_tables) == (0, 0, 0):
        return 0
    if application_id != APPLICATION_ID:
        raise DatabaseRefused("this file is not a journal")
    if not 1 <= version <= VERSION:
        raise DatabaseRefused(
            f"this journal has schema {version}, written by another release; this one knows 1 to {VERSION}"
        )
    return int(version)


def create(db: sqlite3.Connection, settings: Settings) -> None:
    run(db, schema())
    db.execute(
        """
        INSERT INTO users (name, timezone, day_rollover, created_at, updated_at)
        VALUES ('owner', :timezone, :day_rollover, :now, :now)
        """,
        {"timezone": settings.timezone, "day_rollover": settings.day_rollover, "now": now()},
    )
