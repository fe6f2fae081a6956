-- Version 8: a trade is a position of fills; contracts by one name; where fees come from; copies that imports link.

ALTER TABLE trades ADD COLUMN contract TEXT NOT NULL DEFAULT '';
ALTER TABLE trades ADD COLUMN root TEXT NOT NULL DEFAULT '';
ALTER TABLE trades ADD COLUMN fills TEXT;
ALTER TABLE trades ADD COLUMN fees_source TEXT NOT NULL DEFAULT 'typed'
  CHECK (fees_source IN ('file', 'account', 'typed', 'none'));
ALTER TABLE trades ADD COLUMN merged TEXT;
ALTER TABLE trades ADD COLUMN unlinked INTEGER NOT NULL DEFAULT 0 CHECK (unlinked IN (0, 1));
-- The last checksum is that of the fees: 0 if no file has stated them.
UPDATE trades SET
  contract = canonical_symbol(symbol, opened_at),
  root = contract_root(symbol),
  fees_source = CASE
    WHEN content IS NULL THEN iif(fees = 0, 'none', 'typed')
    WHEN substr(content, -4) <> x'00000000' THEN 'file'
    ELSE iif(fees = 0, 'none', 'account')
  END;
DROP INDEX trades_of_symbol;
-- Of two indexes that serve a filter alike, SQLite takes the newer one: the partial ones stay newer.
DROP INDEX trades_of_grade;
DROP INDEX trades_open;
DROP INDEX trades_breakeven;
CREATE INDEX trades_of_contract ON trades (user_id, contract, opened_at, id);
CREATE INDEX trades_of_grade ON trades (user_id, grade, opened_at, id) WHERE grade IS NOT NULL;
CREATE INDEX trades_open ON trades (user_id, opened_at, id) WHERE closed_at IS NULL;
CREATE INDEX trades_breakeven ON trades (user_id, opened_at, id) WHERE net_pnl = 0;
CREATE INDEX trades_without_costs ON trades (user_id, opened_at, id) WHERE fees_source = 'none';
CREATE INDEX trades_merged ON trades (account_id) WHERE merged IS NOT NULL;

ALTER TABLE import_updates ADD COLUMN fills TEXT;
ALTER TABLE import_updates ADD COLUMN fees_source TEXT NOT NULL DEFAULT 'file';

CREATE TABLE import_links (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  source_trade_id INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  written_at TEXT NOT NULL,
  PRIMARY KEY (import_id, trade_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_links_of_trade ON import_links (trade_id);

-- Earlier releases stored every row of a file of pairs as a trade.
ALTER TABLE imports ADD COLUMN one_trade_is TEXT NOT NULL DEFAULT 'position'
  CHECK (one_trade_is IN ('position', 'row'));
UPDATE imports SET one_trade_is = 'row';

ALTER TABLE accounts ADD COLUMN one_trade_is TEXT CHECK (one_trade_is IN ('position', 'row'));

ALTER TABLE copy_groups ADD COLUMN copy_seconds INTEGER NOT NULL DEFAULT 5 CHECK (copy_seconds BETWEEN 0 AND 300);
ALTER TABLE copy_groups ADD COLUMN any_quantity INTEGER NOT NULL DEFAULT 0 CHECK (any_quantity IN (0, 1));
