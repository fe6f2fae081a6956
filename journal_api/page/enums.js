// The closed lists of the API, written by `make openapi`.

export const CASH_KINDS = ["deposit", "withdrawal", "payout", "fee", "adjustment", "reset"];
export const DIRECTIONS = ["long", "short"];
export const GOAL_DIRECTIONS = ["at_least", "at_most"];
export const GOAL_STATUSES = ["active", "paused", "archived"];
export const GRADES = ["A+", "A", "B", "C", "D", "F"];
export const OUTCOMES = ["win", "loss", "breakeven", "open"];
export const TAG_TYPES = ["mistake", "custom"];
export const TIMEFRAMES = ["daily", "weekly", "monthly", "quarterly", "custom"];
// Title, unit, and whether values can be below 0.
export const METRICS = {
  net_pnl: ["Net P&L", "currency", true],
  gross_pnl: ["Gross P&L", "currency", true],
  max_drawdown: ["Maximum drawdown", "currency", false],
  balance_target: ["Balance", "currency", true],
  win_rate: ["Win rate", "percent", false],
  profit_factor: ["Profit factor", "ratio", false],
  expectancy: ["Expectancy", "currency", true],
  rr_realized_avg: ["Average R", "ratio", true],
  a_plus_rate: ["A+ rate", "percent", false],
  max_trades_per_day: ["Most trades in a day", "count", false],
  protocol_completion_rate: ["Protocol completion", "percent", false],
  trade_count: ["Trades", "count", false],
  trading_days: ["Trading days", "count", false],
  winning_days: ["Winning days", "count", false],
  win_streak: ["Win streak", "count", false],
  average_win: ["Average win", "currency", true],
  payoff_ratio: ["Payoff ratio", "ratio", false],
  worst_trade: ["Worst trade", "currency", true],
  worst_day: ["Worst day", "currency", true],
  average_risk: ["Average risk", "currency", false],
  largest_risk: ["Largest risk", "currency", false],
  mistake_free_rate: ["Mistake-free rate", "percent", false],
  average_mae: ["Average MAE", "currency", false],
  average_mfe: ["Average MFE", "currency", false],
  captured: ["Captured", "percent", false],
};
// Key, title, and the filter of trades that selects a group.
export const GROUPINGS = [
  ["strategy", "Strategy", "strategy_id"],
  ["setup", "Setup", "setup_id"],
  ["confirmation", "Confirmation", null],
  ["rules", "Rules", null],
  ["tag", "Tag", "tag_id"],
  ["category", "Category", null],
  ["symbol", "Symbol", "symbol"],
  ["root", "Contract root", "root"],
  ["direction", "Side", "direction"],
  ["grade", "Grade", "grade"],
  ["after", "After win or loss", null],
  ["nth", "Nth of the day", null],
  ["pause", "Pause", null],
  ["weekday", "Weekday", null],
  ["hour", "Hour", null],
  ["holding", "Holding time", null],
  ["day_rating", "Rating of the day", null],
  ["day_tag", "Tag of the day", null],
  ["account", "Account", "account_id"],
  ["month", "Month", null],
];
// The statistics of a snapshot that are amounts.
export const AMOUNTS = [
  "gross_pnl",
  "fees",
  "net_pnl",
  "winning_pnl",
  "losing_pnl",
  "risk_total",
  "largest_risk",
  "worst_trade",
  "worst_day",
  "r_total",
  "max_drawdown",
  "peak_pnl",
  "mae_total",
  "mfe_total",
  "winning_mfe",
  "captured_pnl",
  "opening_balance",
  "cash",
];
export const MIN_EDGE_DECISIONS = 10; // on each side
export const MIN_EDGE_DAYS = 5;
