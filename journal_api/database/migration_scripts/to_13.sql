-- Version 13: categories of which a trade has one tag; what of an account's payouts and fees the owner sees at the bank.

ALTER TABLE tag_categories ADD COLUMN single INTEGER NOT NULL DEFAULT 0 CHECK (single IN (0, 1));

ALTER TABLE accounts ADD COLUMN payout_share INTEGER CHECK (payout_share > 0 AND payout_share <= 10000000000);

ALTER TABLE cash_movements ADD COLUMN outside INTEGER NOT NULL DEFAULT 0
  CHECK (outside = 0 OR (outside = 1 AND kind = 'fee'));
ALTER TABLE cash_movements ADD COLUMN received INTEGER
  CHECK (received IS NULL OR (kind = 'payout' AND received BETWEEN 0 AND amount));

-- What a trade may have is checked in pairs; no row has to be written again.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(replace(sql,
  '(grade IN (''A+'', ''A'', ''B'', ''C'', ''D'', ''F''))',
  '(grade IN (''A+'', ''A'') OR grade IN (''B'', ''C'') OR grade IN (''D'', ''F''))'),
  '(fees_source IN (''file'', ''account'', ''typed'', ''none''))',
  '(fees_source IN (''file'', ''account'') OR fees_source IN (''typed'', ''none''))')
WHERE name = 'trades';
PRAGMA writable_schema = RESET;
