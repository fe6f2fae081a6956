PRAGMA application_id = 1246907980;
PRAGMA user_version = 5;
BEGIN TRANSACTION;
CREATE TABLE account_fees (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  per_side INTEGER NOT NULL CHECK (per_side >= 0),
  PRIMARY KEY (account_id, root)
) STRICT, WITHOUT ROWID;
INSERT INTO "account_fees" VALUES(1,'MNQ',37000000);
INSERT INTO "account_fees" VALUES(1,'default',200000000);
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  currency TEXT NOT NULL DEFAULT 'USD',
  starting_balance INTEGER NOT NULL DEFAULT 0,
  broker TEXT,
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
INSERT INTO "accounts" VALUES(1,1,'Sim','sim','USD',100050000000,NULL,0,'2026-02-10T12:00:00.224847Z','2026-02-10T12:00:00.224847Z');
INSERT INTO "accounts" VALUES(2,1,'Copy','copy','USD',0,NULL,0,'2026-02-10T12:00:00.228419Z','2026-02-10T12:00:00.228419Z');
CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE,  -- SHA-256; the key itself is never stored
  last_four TEXT NOT NULL,
  scopes TEXT NOT NULL,  -- separated by spaces
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT
, last_used_on TEXT) STRICT;
INSERT INTO "api_keys" VALUES(1,1,'test',X'6C75415990CDF33284805F8D8E14E8F893FCEA51E737894D3A48DB8DB83913BB','1GjQ','read:tags write:tags read:strategies write:strategies read:goals write:goals read:accounts write:accounts read:copy_groups write:copy_groups read:trades write:trades read:settings write:settings','2026-02-10T12:00:00.096375Z',NULL,NULL,NULL);
CREATE TABLE changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Either the trades that an account closed on a day,
  account_id INTEGER,
  trading_day TEXT,
  -- or the checklist of a setup.
  setup_id INTEGER,
  CHECK ((account_id IS NULL) = (trading_day IS NULL)),
  CHECK ((account_id IS NULL) <> (setup_id IS NULL))
) STRICT;
INSERT INTO "changes" VALUES(6,1,'2026-01-05',NULL);
INSERT INTO "changes" VALUES(7,2,'2026-01-05',NULL);
INSERT INTO "changes" VALUES(8,1,'2026-02-02',NULL);
INSERT INTO "changes" VALUES(13,1,'2026-02-03',NULL);
INSERT INTO "changes" VALUES(14,1,'2026-02-04',NULL);
INSERT INTO "changes" VALUES(15,1,'2026-01-06',NULL);
INSERT INTO "changes" VALUES(16,NULL,NULL,1);
CREATE TABLE confirmation_answers (
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  confirmation_id INTEGER NOT NULL REFERENCES confirmations (id) ON DELETE CASCADE,
  was_present INTEGER NOT NULL CHECK (was_present IN (0, 1)),
  notes TEXT,
  PRIMARY KEY (trade_id, confirmation_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "confirmation_answers" VALUES(1,1,1,NULL);
INSERT INTO "confirmation_answers" VALUES(1,2,1,NULL);
CREATE TABLE confirmations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  setup_id INTEGER NOT NULL REFERENCES setups (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  sort_order INTEGER NOT NULL
) STRICT;
INSERT INTO "confirmations" VALUES(1,1,'Volume',NULL,0);
INSERT INTO "confirmations" VALUES(2,1,'Trend',NULL,1);
INSERT INTO "confirmations" VALUES(3,1,'Level',NULL,2);
CREATE TABLE copy_group_members (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,  -- in one group at most
  copy_group_id INTEGER NOT NULL REFERENCES copy_groups (id) ON DELETE CASCADE,
  quantity_multiplier INTEGER NOT NULL DEFAULT 100000000,
  sort_order INTEGER NOT NULL DEFAULT 0,
  CHECK (quantity_multiplier > 0 AND quantity_multiplier <= 99999000000)
) STRICT;
INSERT INTO "copy_group_members" VALUES(1,1,100000000,0);
INSERT INTO "copy_group_members" VALUES(2,1,100000000,1);
CREATE TABLE copy_groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  master_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
INSERT INTO "copy_groups" VALUES(1,1,'Both','both',NULL,'2026-02-10T12:00:00.240672Z','2026-02-10T12:00:00.252420Z');
CREATE TABLE goal_targets (
  goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
  since TEXT NOT NULL,
  target_value INTEGER NOT NULL,
  PRIMARY KEY (goal_id, since)
) STRICT, WITHOUT ROWID;
INSERT INTO "goal_targets" VALUES(1,'0001-01-01',10000000000);
INSERT INTO "goal_targets" VALUES(2,'0001-01-01',10000000000);
INSERT INTO "goal_targets" VALUES(3,'0001-01-01',5000000000);
INSERT INTO "goal_targets" VALUES(4,'0001-01-01',5000000000);
CREATE TABLE goals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  goal_name TEXT NOT NULL,
  metric TEXT NOT NULL,
  target_value INTEGER NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('at_least', 'at_most')),
  timeframe TEXT NOT NULL CHECK (timeframe IN ('daily', 'weekly', 'monthly', 'quarterly', 'custom')),
  custom_start TEXT,
  custom_end TEXT,
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE CASCADE,
  follows_selection INTEGER NOT NULL DEFAULT 0 CHECK (follows_selection IN (0, 1)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'archived')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  -- The newest change that the snapshots know of; null: the history is to be built anew.
  change_cursor INTEGER,
  -- The day on which the snapshots were last true; null: the running period is to be evaluated again.
  evaluated_on TEXT, carries_balance INTEGER NOT NULL DEFAULT 0 CHECK (carries_balance IN (0, 1)), stopped_on TEXT,
  CHECK ((account_id IS NOT NULL) + (copy_group_id IS NOT NULL) + follows_selection <= 1),
  CHECK ((timeframe = 'custom') = (custom_start IS NOT NULL)),
  CHECK ((custom_start IS NULL) = (custom_end IS NULL)),
  CHECK (custom_end >= custom_start)
) STRICT;
INSERT INTO "goals" VALUES(1,1,'Goal','net_pnl',10000000000,'at_least','daily',NULL,NULL,NULL,NULL,0,'active','2026-02-10T12:00:00.392051Z','2026-02-10T12:00:00.392051Z',NULL,'2026-02-10',0,NULL);
INSERT INTO "goals" VALUES(2,1,'Goal','balance_target',10000000000,'at_least','weekly',NULL,NULL,1,NULL,0,'paused','2026-02-10T12:00:00.410695Z','2026-02-10T12:00:00.466454Z',NULL,'2026-02-10',1,'2026-02-10');
INSERT INTO "goals" VALUES(3,1,'Goal','win_rate',5000000000,'at_most','monthly',NULL,NULL,NULL,1,0,'active','2026-02-10T12:00:00.432145Z','2026-02-10T12:00:00.469585Z',NULL,NULL,0,NULL);
INSERT INTO "goals" VALUES(4,1,'Goal','win_rate',5000000000,'at_least','monthly',NULL,NULL,NULL,NULL,0,'active','2026-02-10T12:00:00.472023Z','2026-02-10T12:00:00.472023Z',NULL,NULL,0,NULL);
CREATE TABLE idempotency_keys (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL,
  content BLOB NOT NULL,
  created_at TEXT NOT NULL, warnings BLOB NOT NULL DEFAULT X'',
  PRIMARY KEY (user_id, key)
) STRICT;
INSERT INTO "idempotency_keys" VALUES(1,'once',X'BDE851A4B0821BA35FB41CC89449DD325E6F1E5BD15181368CE68D47ABE40058',201,'{"Location":"/v1/trades/8"}',X'7B226F6B223A747275652C2264617461223A7B227472616465223A7B226964223A382C226163636F756E745F6964223A312C2273796D626F6C223A224553222C22646972656374696F6E223A226C6F6E67222C227175616E74697479223A312C226D756C7469706C696572223A312C22656E7472795F7072696365223A3130302C22657869745F7072696365223A3130312C2273746F705F6C6F7373223A6E756C6C2C2267726F73735F706E6C223A312C2266656573223A302C22696E697469616C5F7269736B223A6E756C6C2C226F70656E65645F6174223A22323032362D30312D30365431343A30303A30302E3030303030305A222C22636C6F7365645F6174223A22323032362D30312D30365431353A30303A30302E3030303030305A222C2274726164696E675F646179223A22323032362D30312D3036222C226E65745F706E6C223A312C2272725F7265616C697A6564223A6E756C6C2C226772616465223A6E756C6C2C2273747261746567795F6964223A6E756C6C2C2273657475705F6964223A6E756C6C2C22736F757263655F74726164655F6964223A6E756C6C2C2265787465726E616C5F6964223A6E756C6C2C226E6F746573223A6E756C6C2C227461675F696473223A5B5D2C22637265617465645F6174223A22323032362D30322D31305431323A30303A30302E3531393233345A222C22757064617465645F6174223A22323032362D30322D31305431323A30303A30302E3531393233345A222C2274616773223A5B5D2C22636F6E6669726D6174696F6E73223A5B5D7D7D','2026-02-10T12:00:00.519843Z',X'');
CREATE TABLE import_profiles (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  profile TEXT NOT NULL,  -- JSON
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
INSERT INTO "import_profiles" VALUES(1,1,'My broker','my broker','{"name":"My broker","kind":"fills","header":["Symbol","Side","Status","Filled","Avg Price","Filled Time"],"where":{"Avg Price":"*"},"symbol":"Symbol","side":{"column":"Side","long":["Buy"],"short":["Sell","Short"]},"quantity":"Filled","price":"Avg Price","at":"Filled Time","time":["%m/%d/%Y %H:%M:%S %Z","%m/%d/%Y %H:%M:%S"]}','2026-02-10T12:00:00.000000Z','2026-02-10T12:00:00.000000Z');
CREATE TABLE import_timezones (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  PRIMARY KEY (import_id, account_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "import_timezones" VALUES(1,1);
CREATE TABLE import_updates (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  written_at TEXT NOT NULL,  -- what the import set updated_at to: another time there is a later edit
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
INSERT INTO "import_updates" VALUES(2,5,'2026-02-10T12:00:00.489049Z','NQ','short',100000000,100000000,10000000000,10100000000,'2026-02-03T14:00:00.000000Z','2026-02-03T15:00:00.000000Z',-100000000,50000000,X'334F11168F2890A27A6992557A699255618B35B076F021F36E2200FAD7D9DB12C54966ED88E88367','2026-02-10T12:00:00.377880Z');
CREATE TABLE imports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,  -- null: the file named its accounts
  format TEXT NOT NULL,
  file_name TEXT,
  sha256 TEXT NOT NULL,
  timezone TEXT NOT NULL,
  added INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  duplicates INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
, deleted INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "imports" VALUES(1,1,1,'round trips',NULL,'11c6f1258ce68f39d65d00eafdf77b527a464614a92867ff30688ae206a099fc','UTC',3,0,0,'2026-02-10T12:00:00.375169Z','2026-02-10T12:00:00.375169Z',1);
INSERT INTO "imports" VALUES(2,1,1,'round trips',NULL,'9eacf7380a7ad1b5753d463024bd9cde0f355a4d722deca0e72986628b8d85f2','UTC',1,1,0,'2026-02-10T12:00:00.488580Z','2026-02-10T12:00:00.488580Z',0);
CREATE TABLE instruments (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  point_value INTEGER NOT NULL CHECK (point_value > 0),
  PRIMARY KEY (user_id, root)
) STRICT, WITHOUT ROWID;
INSERT INTO "instruments" VALUES(1,'ZZZ',1250000000);
CREATE TABLE setups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  strategy_id INTEGER NOT NULL REFERENCES strategies (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  sort_order INTEGER NOT NULL
) STRICT;
INSERT INTO "setups" VALUES(1,1,'Flag',NULL,0);
CREATE TABLE "snapshots" (
      goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
      period_start TEXT NOT NULL,
      period_end TEXT NOT NULL,
      target INTEGER NOT NULL,
      actual INTEGER,
      achieved INTEGER CHECK (achieved IN (0, 1)),
      closed INTEGER NOT NULL CHECK (closed IN (0, 1)),
      snapshot_data TEXT NOT NULL,
      computed_at TEXT NOT NULL, opening_balance INTEGER, closing_balance INTEGER,
      PRIMARY KEY (goal_id, period_start)
    ) STRICT;
INSERT INTO "snapshots" VALUES(1,'2026-01-05','2026-01-05',10000000000,190000000,0,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":2,"decisions":1,"wins":1,"losses":0,"breakevens":0,"graded":1,"a_plus":1,"with_risk":1,"with_checklist":1,"checklists_confirmed":1,"with_mistake":1,"trading_days":1,"winning_days":1,"max_trades_per_day":1,"gross_pnl":2,"fees":0.1,"net_pnl":1.9,"winning_pnl":1.9,"losing_pnl":0,"worst_trade":1.9,"worst_day":1.9,"r_total":1.9}','2026-02-10T12:00:00.453204Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(1,'2026-02-02','2026-02-02',10000000000,-50000000,0,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":1,"decisions":1,"wins":0,"losses":1,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":1,"winning_days":0,"max_trades_per_day":1,"gross_pnl":0,"fees":0.5,"net_pnl":-0.5,"winning_pnl":0,"losing_pnl":-0.5,"worst_trade":-0.5,"worst_day":-0.5,"r_total":0}','2026-02-10T12:00:00.453204Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(1,'2026-02-03','2026-02-03',10000000000,-150000000,0,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":1,"decisions":1,"wins":0,"losses":1,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":1,"winning_days":0,"max_trades_per_day":1,"gross_pnl":-1,"fees":0.5,"net_pnl":-1.5,"winning_pnl":0,"losing_pnl":-1.5,"worst_trade":-1.5,"worst_day":-1.5,"r_total":0}','2026-02-10T12:00:00.453204Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(1,'2026-02-04','2026-02-04',10000000000,-250000000,0,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":1,"decisions":1,"wins":0,"losses":1,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":1,"winning_days":0,"max_trades_per_day":1,"gross_pnl":-2,"fees":0.5,"net_pnl":-2.5,"winning_pnl":0,"losing_pnl":-2.5,"worst_trade":-2.5,"worst_day":-2.5,"r_total":0}','2026-02-10T12:00:00.453204Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(1,'2026-02-10','2026-02-10',10000000000,0,0,0,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":0,"decisions":0,"wins":0,"losses":0,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":0,"winning_days":0,"max_trades_per_day":0,"gross_pnl":0,"fees":0,"net_pnl":0,"winning_pnl":0,"losing_pnl":0,"worst_trade":null,"worst_day":null,"r_total":0}','2026-02-10T12:00:00.453204Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(2,'2026-01-05','2026-01-11',10000000000,100140000000,1,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":1,"decisions":1,"wins":1,"losses":0,"breakevens":0,"graded":1,"a_plus":1,"with_risk":1,"with_checklist":1,"checklists_confirmed":1,"with_mistake":1,"trading_days":1,"winning_days":1,"max_trades_per_day":1,"gross_pnl":1,"fees":0.1,"net_pnl":0.9,"winning_pnl":0.9,"losing_pnl":0,"worst_trade":0.9,"worst_day":0.9,"r_total":0.9,"opening_balance":1000.5}','2026-02-10T12:00:00.458292Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(2,'2026-01-12','2026-01-18',10000000000,100140000000,1,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":0,"decisions":0,"wins":0,"losses":0,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":0,"winning_days":0,"max_trades_per_day":0,"gross_pnl":0,"fees":0,"net_pnl":0,"winning_pnl":0,"losing_pnl":0,"worst_trade":null,"worst_day":null,"r_total":0,"opening_balance":1001.4}','2026-02-10T12:00:00.458292Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(2,'2026-01-19','2026-01-25',10000000000,100140000000,1,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":0,"decisions":0,"wins":0,"losses":0,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":0,"winning_days":0,"max_trades_per_day":0,"gross_pnl":0,"fees":0,"net_pnl":0,"winning_pnl":0,"losing_pnl":0,"worst_trade":null,"worst_day":null,"r_total":0,"opening_balance":1001.4}','2026-02-10T12:00:00.458292Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(2,'2026-01-26','2026-02-01',10000000000,100140000000,1,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":0,"decisions":0,"wins":0,"losses":0,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":0,"winning_days":0,"max_trades_per_day":0,"gross_pnl":0,"fees":0,"net_pnl":0,"winning_pnl":0,"losing_pnl":0,"worst_trade":null,"worst_day":null,"r_total":0,"opening_balance":1001.4}','2026-02-10T12:00:00.458292Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(2,'2026-02-02','2026-02-08',10000000000,99690000000,1,1,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":3,"decisions":3,"wins":0,"losses":3,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":3,"winning_days":0,"max_trades_per_day":1,"gross_pnl":-3,"fees":1.5,"net_pnl":-4.5,"winning_pnl":0,"losing_pnl":-4.5,"worst_trade":-2.5,"worst_day":-2.5,"r_total":0,"opening_balance":1001.4}','2026-02-10T12:00:00.458292Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(2,'2026-02-09','2026-02-15',10000000000,99690000000,1,0,'{"unit":"currency","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":0,"decisions":0,"wins":0,"losses":0,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":0,"winning_days":0,"max_trades_per_day":0,"gross_pnl":0,"fees":0,"net_pnl":0,"winning_pnl":0,"losing_pnl":0,"worst_trade":null,"worst_day":null,"r_total":0,"opening_balance":996.9}','2026-02-10T12:00:00.458292Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(3,'2026-01-01','2026-01-31',5000000000,10000000000,1,1,'{"unit":"percent","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":2,"decisions":1,"wins":1,"losses":0,"breakevens":0,"graded":1,"a_plus":1,"with_risk":1,"with_checklist":1,"checklists_confirmed":1,"with_mistake":1,"trading_days":1,"winning_days":1,"max_trades_per_day":1,"gross_pnl":2,"fees":0.1,"net_pnl":1.9,"winning_pnl":1.9,"losing_pnl":0,"worst_trade":1.9,"worst_day":1.9,"r_total":1.9}','2026-02-10T12:00:00.462953Z',NULL,NULL);
INSERT INTO "snapshots" VALUES(3,'2026-02-01','2026-02-28',5000000000,0,0,0,'{"unit":"percent","timezone":"UTC","day_rollover":"00:00","reason":null,"trades":3,"decisions":3,"wins":0,"losses":3,"breakevens":0,"graded":0,"a_plus":0,"with_risk":0,"with_checklist":0,"checklists_confirmed":0,"with_mistake":0,"trading_days":3,"winning_days":0,"max_trades_per_day":1,"gross_pnl":-3,"fees":1.5,"net_pnl":-4.5,"winning_pnl":0,"losing_pnl":-4.5,"worst_trade":-2.5,"worst_day":-2.5,"r_total":0}','2026-02-10T12:00:00.462953Z',NULL,NULL);
CREATE TABLE strategies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  description TEXT,
  color_tag TEXT NOT NULL,
  account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE SET NULL,
  -- JSON, token by token as it was sent.
  risk_rules TEXT,
  exit_rules TEXT,
  optimal_conditions TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name),
  CHECK (account_id IS NULL OR copy_group_id IS NULL)
) STRICT;
INSERT INTO "strategies" VALUES(1,1,'Breakout','breakout',NULL,'#1d4ed8',NULL,NULL,'{"max":1.0}',NULL,NULL,'2026-02-10T12:00:00.277284Z','2026-02-10T12:00:00.529763Z');
CREATE TABLE tag_categories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
INSERT INTO "tag_categories" VALUES(1,1,'of FOMO','of fomo','2026-02-10T12:00:00.194119Z','2026-02-10T12:00:00.194119Z');
CREATE TABLE tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  category_id INTEGER NOT NULL REFERENCES tag_categories (id),
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  color TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('mistake', 'custom')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
INSERT INTO "tags" VALUES(1,1,1,'FOMO','fomo','#3b82f6','mistake','2026-02-10T12:00:00.208887Z','2026-02-10T12:00:00.208887Z');
CREATE TABLE trade_tags (
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  tag_id INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
  PRIMARY KEY (trade_id, tag_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "trade_tags" VALUES(1,1);
CREATE TABLE trades (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  symbol TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('long', 'short')),
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  multiplier INTEGER NOT NULL DEFAULT 100000000 CHECK (multiplier > 0),
  entry_price INTEGER NOT NULL,
  exit_price INTEGER,
  stop_loss INTEGER,
  opened_at TEXT NOT NULL,
  closed_at TEXT,
  trading_day TEXT,  -- of closed_at, in the owner's zone and rollover; null while open
  gross_pnl INTEGER,
  fees INTEGER NOT NULL DEFAULT 0,
  net_pnl INTEGER GENERATED ALWAYS AS (gross_pnl - fees) VIRTUAL,
  initial_risk INTEGER CHECK (initial_risk > 0),
  grade TEXT CHECK (grade IN ('A+', 'A', 'B', 'C', 'D', 'F')),
  strategy_id INTEGER REFERENCES strategies (id) ON DELETE SET NULL,
  setup_id INTEGER REFERENCES setups (id) ON DELETE SET NULL,
  source_trade_id INTEGER REFERENCES trades (id) ON DELETE SET NULL,  -- the original that this row copies
  external_id TEXT,
  notes TEXT,
  import_id INTEGER REFERENCES imports (id) ON DELETE SET NULL,
  -- What the trade was when it was imported, and the how-manieth of its kind: how it is recognised again.
  fingerprint BLOB,
  occurrence INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  content BLOB,  -- what files have said of it; null for a trade that no import has brought
  UNIQUE (account_id, external_id),
  UNIQUE (account_id, fingerprint, occurrence),
  CHECK ((closed_at IS NULL) = (trading_day IS NULL)),
  CHECK ((closed_at IS NULL) = (gross_pnl IS NULL)),
  CHECK (setup_id IS NULL OR strategy_id IS NOT NULL),
  CHECK (source_trade_id IS NOT id)
) STRICT;
INSERT INTO "trades" VALUES(1,1,1,'ES','long',100000000,100000000,10000000000,10100000000,9900000000,'2026-01-05T14:00:00.000000Z','2026-01-05T15:00:00.000000Z','2026-01-05',100000000,10000000,100000000,'A+',1,1,NULL,NULL,'first',NULL,X'B670A19896F1FB14D810AAD6718803CD',1,'2026-02-10T12:00:00.307424Z','2026-02-10T12:00:00.324019Z',NULL);
INSERT INTO "trades" VALUES(2,1,2,'ES','long',100000000,100000000,10000000000,10100000000,NULL,'2026-01-05T14:00:00.000000Z','2026-01-05T15:00:00.000000Z','2026-01-05',100000000,0,NULL,NULL,NULL,NULL,1,NULL,NULL,NULL,X'B670A19896F1FB14D810AAD6718803CD',1,'2026-02-10T12:00:00.348109Z','2026-02-10T12:00:00.348109Z',NULL);
INSERT INTO "trades" VALUES(3,1,1,'ES','long',100000000,100000000,10000000000,NULL,NULL,'2026-01-05T14:00:00.000000Z',NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'262BE36854B563236D0FC87E5DA39B02',1,'2026-02-10T12:00:00.361270Z','2026-02-10T12:00:00.361270Z',NULL);
INSERT INTO "trades" VALUES(4,1,1,'NQ','short',100000000,100000000,10000000000,10000000000,NULL,'2026-02-02T14:00:00.000000Z','2026-02-02T15:00:00.000000Z','2026-02-02',0,50000000,NULL,NULL,NULL,NULL,NULL,'x1',NULL,1,X'A6CD5C913982AC55C47BD6D5589B2064',1,'2026-02-10T12:00:00.377880Z','2026-02-10T12:00:00.377880Z',X'334F11168F2890A27A6992557A699255618B35B0618B35B08170B61B388B6DF3F4DBDF2188E88367');
INSERT INTO "trades" VALUES(5,1,1,'NQ','short',100000000,100000000,10000000000,10100000000,NULL,'2026-02-03T14:00:00.000000Z','2026-02-03T15:00:00.000000Z','2026-02-03',-100000000,75000000,NULL,NULL,NULL,NULL,NULL,'x2',NULL,1,X'54E234C24609D805BF7CA89CC189B231',1,'2026-02-10T12:00:00.377880Z','2026-02-10T12:00:00.489049Z',X'334F11168F2890A27A6992557A699255618B35B076F021F36E2200FAD7D9DB12C54966ED98F5ABBD');
INSERT INTO "trades" VALUES(7,1,1,'NQ','short',100000000,100000000,10000000000,9700000000,NULL,'2026-02-04T14:00:00.000000Z','2026-02-04T15:00:00.000000Z','2026-02-04',300000000,50000000,NULL,NULL,NULL,NULL,NULL,'x4',NULL,2,X'452FF7CBFFA7601B99680F528284A229',1,'2026-02-10T12:00:00.489049Z','2026-02-10T12:00:00.489049Z',X'334F11168F2890A27A6992557A699255618B35B098163EF58F0C0A9E36F7D176549FBAD388E88367');
INSERT INTO "trades" VALUES(8,1,1,'ES','long',100000000,100000000,10000000000,10100000000,NULL,'2026-01-06T14:00:00.000000Z','2026-01-06T15:00:00.000000Z','2026-01-06',100000000,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'0B703126CED00E6ABF4E3448CF1D9417',1,'2026-02-10T12:00:00.519234Z','2026-02-10T12:00:00.519234Z',NULL);
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  timezone TEXT NOT NULL,
  day_rollover TEXT NOT NULL,
  -- What the front end shows just now; neither means all accounts.
  active_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  active_copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL, trading_weekdays TEXT NOT NULL DEFAULT '[1,2,3,4,5]',
  CHECK (active_account_id IS NULL OR active_copy_group_id IS NULL)
) STRICT;
INSERT INTO "users" VALUES(1,'owner','UTC','00:00',NULL,NULL,'2026-02-10T12:00:00.000000Z','2026-02-10T12:00:00.000000Z','[1,2,3,4,5,7]');
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX tag_categories_in_order ON tag_categories (user_id, sort_name, id);
CREATE INDEX tags_in_order ON tags (user_id, sort_name, id);
CREATE INDEX tags_of_category ON tags (category_id);
CREATE INDEX accounts_in_order ON accounts (user_id, sort_name, id);
CREATE INDEX copy_groups_in_order ON copy_groups (user_id, sort_name, id);
CREATE INDEX members_of_copy_group ON copy_group_members (copy_group_id);
CREATE INDEX strategies_in_order ON strategies (user_id, sort_name, id);
CREATE INDEX strategies_of_account ON strategies (account_id);
CREATE INDEX strategies_of_copy_group ON strategies (copy_group_id);
CREATE INDEX setups_in_order ON setups (strategy_id, sort_order, id);
CREATE INDEX confirmations_in_order ON confirmations (setup_id, sort_order, id);
CREATE INDEX imports_of_user ON imports (user_id, id);
CREATE INDEX imports_of_account ON imports (account_id);
CREATE INDEX trades_in_order ON trades (account_id, trading_day, closed_at, id);
CREATE INDEX trades_of_user ON trades (user_id, opened_at, id);
CREATE INDEX trades_of_strategy ON trades (strategy_id) WHERE strategy_id IS NOT NULL;
CREATE INDEX trades_of_setup ON trades (setup_id) WHERE setup_id IS NOT NULL;
CREATE INDEX trades_of_source ON trades (source_trade_id) WHERE source_trade_id IS NOT NULL;
CREATE INDEX trades_of_import ON trades (import_id) WHERE import_id IS NOT NULL;
CREATE INDEX import_updates_of_trade ON import_updates (trade_id);
CREATE INDEX trades_of_tag ON trade_tags (tag_id);
CREATE INDEX answers_of_confirmation ON confirmation_answers (confirmation_id);
CREATE TRIGGER trades_keep_copies_together BEFORE DELETE ON trades
WHEN EXISTS (SELECT 1 FROM trades WHERE source_trade_id = old.id)
BEGIN
  UPDATE trades
  SET source_trade_id = (SELECT min(id) FROM trades WHERE source_trade_id = old.id)
  WHERE source_trade_id = old.id
    AND id > (SELECT min(id) FROM trades WHERE source_trade_id = old.id);
END;
CREATE TRIGGER trades_drop_answers_of_old_setup AFTER UPDATE OF setup_id ON trades
WHEN old.setup_id IS NOT new.setup_id
BEGIN
  DELETE FROM confirmation_answers WHERE trade_id = new.id;
END;
CREATE INDEX goals_of_user ON goals (user_id, id);
CREATE INDEX goals_of_account ON goals (account_id);
CREATE INDEX goals_of_copy_group ON goals (copy_group_id);
CREATE UNIQUE INDEX changes_of_day ON changes (account_id, trading_day) WHERE account_id IS NOT NULL;
CREATE UNIQUE INDEX changes_of_setup ON changes (setup_id) WHERE setup_id IS NOT NULL;
CREATE TRIGGER changes_of_longer_checklist AFTER INSERT ON confirmations
BEGIN
  DELETE FROM changes WHERE setup_id = new.setup_id;
  INSERT INTO changes (setup_id) VALUES (new.setup_id);
END;
CREATE TRIGGER changes_of_shorter_checklist AFTER DELETE ON confirmations
BEGIN
  DELETE FROM changes WHERE setup_id = old.setup_id;
  INSERT INTO changes (setup_id) VALUES (old.setup_id);
END;
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
CREATE INDEX import_timezones_of_account ON import_timezones (account_id);
CREATE INDEX import_profiles_in_order ON import_profiles (user_id, sort_name, id);
CREATE TRIGGER goals_of_changed_currency AFTER UPDATE OF currency ON accounts
WHEN old.currency <> new.currency
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id;
END;
CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
WHEN new.import_id IS NULL
BEGIN
  INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
END;
CREATE TRIGGER changes_of_import AFTER UPDATE OF added ON imports
BEGIN
  INSERT INTO touched_days SELECT DISTINCT account_id, trading_day FROM trades WHERE import_id = new.id;
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('users',1);
INSERT INTO "sqlite_sequence" VALUES('api_keys',1);
INSERT INTO "sqlite_sequence" VALUES('tag_categories',1);
INSERT INTO "sqlite_sequence" VALUES('tags',1);
INSERT INTO "sqlite_sequence" VALUES('accounts',2);
INSERT INTO "sqlite_sequence" VALUES('copy_groups',1);
INSERT INTO "sqlite_sequence" VALUES('strategies',1);
INSERT INTO "sqlite_sequence" VALUES('setups',1);
INSERT INTO "sqlite_sequence" VALUES('changes',16);
INSERT INTO "sqlite_sequence" VALUES('confirmations',3);
INSERT INTO "sqlite_sequence" VALUES('trades',8);
INSERT INTO "sqlite_sequence" VALUES('imports',2);
INSERT INTO "sqlite_sequence" VALUES('goals',4);
INSERT INTO "sqlite_sequence" VALUES('import_profiles',1);
COMMIT;
