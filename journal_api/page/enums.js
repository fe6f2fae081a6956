// The closed lists of the API, written by `make openapi`.

export const CASH_KINDS = ["deposit", "withdrawal", "payout", "fee", "adjustment", "reset"];
export const DIRECTIONS = ["long", "short"];
export const GOAL_DIRECTIONS = ["at_least", "at_most"];
export const GOAL_STATUSES = ["active", "paused", "archived"];
export const GRADES = ["A+", "A", "B", "C", "D", "F"];
export const OUTCOMES = ["win", "loss", "breakeven", "open"];
export const TAG_TYPES = ["mistake", "custom"];
export const TIMEFRAMES = ["daily", "weekly", "monthly", "quarterly", "custom"];
export const MIN_EDGE_DECISIONS = 10; // on each side
