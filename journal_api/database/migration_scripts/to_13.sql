-- Version 13: categories of which a trade has one tag; what of an account's payouts and fees the owner sees at the bank.

ALTER TABLE tag_categories ADD COLUMN single INTEGER NOT NULL DEFAULT 0 CHECK (single IN (0, 1));

ALTER TABLE accounts ADD COLUMN payout_share INTEGER CHECK (payout_share > 0 AND payout_share <= 10000000000);

ALTER TABLE cash_movements ADD COLUMN outside INTEGER NOT NULL DEFAULT 0
  CHECK (outside = 0 OR (outside = 1 AND kind = 'fee'));
ALTER TABLE cash_movements ADD COLUMN received INTEGER
  CHECK (received IS NULL OR (kind = 'payout' AND received BETWEEN 0 AND amount));
