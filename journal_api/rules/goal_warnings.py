"""Warnings about goals that are valid but probably mistakes (docs/api.md#goals)."""

from decimal import Decimal

from msgspec import UNSET

from journal_api.metrics.metrics import METRICS
from journal_api.structs.goals import Goal, GoalPatch


def find_warnings(goal: Goal) -> list[str]:
    """Return one sentence for each doubt about the goal."""
    metric, target, direction = METRICS[goal.metric], goal.target_value, goal.direction
    warnings = []
    if metric.unit == "percent" and target > 100 and metric.formula.measure:
        outcome = "never" if direction == "at_least" else "always"
        warnings.append(f"{goal.metric} is at most 100, so this goal is {outcome} achieved.")
    if metric.unit == "percent" and 0 < target <= 1:
        percent = f"{(100 * target).normalize():f}"
        warnings.append(f"{goal.metric} is in percent: {target} means {target} %, not {percent} %.")
    if metric.below_zero == "worst" and direction == "at_least" and target > 0:
        warnings.append(
            f"A positive {goal.metric} is achieved only without a loss; a loss limit is negative: {-target}."
        )
    if direction == "at_most" and metric.may_be_negative and target < 0:
        warnings.append(f"at_most {target} asks for {target} or less; a loss limit is at_least {target}.")
    elif direction == "at_most" and metric.below_zero == "worst":
        warnings.append(f"at_most {target} never limits a loss; a loss limit is at_least {-target}.")
    if metric.direction == "at_most" and direction == "at_least":
        warnings.append(f"at_least is achieved by a larger {goal.metric}; a limit has the direction at_most.")
    if metric.unit == "count" and target != Decimal(target).to_integral_value():
        warnings.append(f"{goal.metric} is a whole number, so a target of {target} is never met exactly.")
    return warnings


def find_unstored_dates(stored: Goal, patch: GoalPatch) -> list[str]:
    """Return a warning if the PATCH has other custom dates than the goal, but no timeframe (G4)."""
    dates = {"custom_start": patch.custom_start, "custom_end": patch.custom_end}
    unstored = [name for name, day in dates.items() if day is not UNSET and str(day) != getattr(stored, name)]
    if not unstored or patch.timeframe is not UNSET:
        return []
    return [
        f"{' and '.join(unstored)} {'was' if len(unstored) == 1 else 'were'} not stored: to move the window,"
        " send timeframe custom and both dates."
    ]
