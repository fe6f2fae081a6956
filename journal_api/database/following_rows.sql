-- The rows that follow from those of other tables, as triggers keep them. A migration and `import-all` run this last,
-- because they write rows without triggers.

INSERT INTO counted_trades
SELECT user_id, account_id, contract, root, direction, max(net_pnl), grade, strategy_id, setup_id, count(*)
FROM trades
JOIN users ON users.id = user_id
GROUP BY user_id, account_id, contract, root, direction, grade, strategy_id, setup_id,
  (net_pnl > breakeven_within) - (net_pnl < -breakeven_within);

INSERT INTO found_texts
SELECT user_id, 'trades', id, 0, opened_at, NULL, notes FROM trades WHERE notes IS NOT NULL;
INSERT INTO found_texts
SELECT user_id, 'trades', trades.id, confirmation_id, opened_at, NULL, confirmation_answers.notes
FROM confirmation_answers
JOIN trades ON trades.id = trade_id
WHERE confirmation_answers.notes IS NOT NULL;
INSERT INTO found_texts
SELECT user_id, 'days', id, 0, date, NULL, coalesce(plan || char(10, 10) || review, plan, review) FROM days;
INSERT INTO found_texts
SELECT user_id, resource, row_id, part, at, title, text FROM captions WHERE text IS NOT NULL;
INSERT INTO found_texts
SELECT user_id, 'strategies', id, 0, created_at, name, description FROM strategies;
INSERT INTO found_texts
SELECT user_id, 'setups', setups.id, 0, created_at, setups.name, setups.description
FROM setups
JOIN strategies ON strategies.id = strategy_id;
INSERT INTO found_texts
SELECT user_id, 'tags', id, 0, created_at, name, NULL FROM tags;
INSERT INTO found_texts
SELECT user_id, 'goals', id, 0, created_at, goal_name, NULL FROM goals;
