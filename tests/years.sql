-- A journal of 2,016 trading days up to this month, with :count trades: a fifth are copies, half are tagged, most have
-- a setup with answers to its checklist. The numbers are multiplied and divided, not drawn, so all runs have the same.

UPDATE users SET timezone = 'America/New_York', day_rollover = '17:00';
INSERT INTO accounts (user_id, name, sort_name, created_at, updated_at)
VALUES (1, 'Main', 'main', '', ''), (1, 'Copies', 'copies', '', '');
INSERT INTO tag_categories (user_id, name, sort_name, created_at, updated_at) VALUES (1, 'All', 'all', '', '');
INSERT INTO tags (user_id, category_id, name, sort_name, color, type, created_at, updated_at)
SELECT 1, 1, 'Tag ' || value, 'tag ' || value, '#16a34a', iif(value < 3, 'mistake', 'custom'), '', ''
FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]');
INSERT INTO strategies (user_id, name, sort_name, color_tag, created_at, updated_at)
SELECT 1, 'Strategy ' || value, 'strategy ' || value, '#16a34a', '', '' FROM json_each('[1, 2, 3]');
INSERT INTO setups (strategy_id, name, sort_order)
SELECT (value + 1) / 2, 'Setup ' || value, value FROM json_each('[1, 2, 3, 4, 5, 6]');
INSERT INTO confirmations (setup_id, name, sort_order)
SELECT setups.id, 'Confirmation ' || value, value FROM setups JOIN json_each('[1, 2, 3, 4]');

-- The last of five trades is a copy of the fourth, a second later in the other account: both have the same `n`.
WITH RECURSIVE
trade (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM trade WHERE id < :count),
decision (id, n, is_copy) AS (SELECT id, id - (id % 5 = 0), id % 5 = 0 FROM trade),
placed AS (
  SELECT *, (n - 1) * 2016 / :count AS day, 5 + n * 104729 % 50 * (n % 61) AS held,
    iif(n % 4 = 3, NULL, 1 + n * 17 / 4 % 6) AS setup,
    json_extract('["ES", "NQ", "CL", "GC", "AAPL", "MSFT", "TSLA", "NVDA", "AMD", "META", "SPY", "QQQ"]',
      printf('$[%d]', n * 7 / 5 % 12)) AS symbol
  FROM decision),
timed AS (
  SELECT *, is_copy + unixepoch('now', 'weekday 1', 'start of day', '-2842 days',
    printf('+%d days', day / 5 * 7 + day % 5), printf('+%d minutes', 870 + n * 7919 % 330)) AS opened
  FROM placed)
INSERT INTO trades (id, user_id, account_id, symbol, contract, root, direction, quantity, entry_price, exit_price,
  opened_at, closed_at, trading_day, gross_pnl, fees, initial_risk, grade, strategy_id, setup_id, source_trade_id,
  created_at, updated_at)
SELECT id, 1, 1 + is_copy, symbol, symbol, symbol, iif(n % 3, 'long', 'short'), 1e8, 5000e8, 5001e8,
  strftime('%Y-%m-%dT%H:%M:%S.000000Z', opened, 'unixepoch'),
  strftime('%Y-%m-%dT%H:%M:%S.000000Z', opened + held, 'unixepoch'), date(opened, 'unixepoch'),
  iif(n % 50 = 7, 204000000, (n * 31 % 201 - 90) * 250000000), 204000000, iif(n % 10 < 7, 100e8 + n % 7 * 1e8, NULL),
  CASE n / 5 % 12 WHEN 0 THEN 'A+' WHEN 3 THEN 'A' WHEN 6 THEN 'B' WHEN 9 THEN 'C' END, (setup + 1) / 2, setup,
  iif(is_copy, n, NULL), '', ''
FROM timed;
INSERT INTO trade_tags SELECT id, 1 + id * 13 / 2 % 10 FROM trades WHERE id % 2;
INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present)
SELECT trades.id, confirmations.id, (trades.id * 11 + confirmations.id * 5) / 7 % 4 > 0
FROM trades JOIN confirmations USING (setup_id)
WHERE (trades.id * 3 + confirmations.id) % 10;
