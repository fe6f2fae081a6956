"""Small mutations of the code, each of which a named test must notice: `make mutations`.

Each mutation is applied alone to a copy of the repository in a temporary folder. It is killed when one of its
tests fails. Arguments select the mutations whose file or text contains all of them. The exit code is 1 if a
mutation survives, or if its text does not stand exactly once in its file.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "*.egg-info", ".hypothesis")
# Exit codes of pytest.
PASSED, FAILED = 0, 1


class Mutation(NamedTuple):
    """A replacement in one file, and the names of the test functions that must notice it, space-separated."""

    file: str
    before: str
    after: str
    tests: str


MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "journal_api/database/backup.py",
        'source.execute("SELECT 1 FROM sqlite_schema").fetchall()',
        "pass",
        "test_a_write_during_a_backup_is_not_in_it",
    ),
    Mutation(
        "journal_api/database/backup.py",
        'for suffix in ("", "-journal", "-wal", "-shm", CHECKSUM):',
        'for suffix in ("",):',
        "test_a_backup_whose_name_is_taken_meanwhile_leaves_nothing_beside_that_file",
    ),
    Mutation(
        "journal_api/database/backup.py",
        "sync(copy)\n",
        "pass\n",
        "test_a_backup_is_on_the_disk_before_it_has_its_name",
    ),
    Mutation(
        "journal_api/database/backup.py",
        'target.execute("PRAGMA journal_mode = DELETE").fetchall()',
        "pass",
        "test_a_backup_needs_no_write_ahead_log",
    ),
    Mutation(
        "journal_api/database/backup_schedule.py",
        "< file.name <= name_at(now)",
        "< file.name",
        "test_a_backup_is_due_when_none_of_the_last_interval_is_there",
    ),
    Mutation(
        "journal_api/mcp/annotating.py",
        """if trade.etag.strip('"') != annotation.version:""",
        "if False:",
        "test_a_trade_that_has_changed_is_not_overwritten",
    ),
    Mutation(
        "journal_api/mcp/annotating.py",
        "await check_tags(client, annotation)",
        "pass",
        "test_everything_is_checked_before_anything_is_written",
    ),
    Mutation(
        "journal_api/mcp/annotating.py",
        "{**before, ",
        "{",
        "test_an_answer_without_notes_keeps_its_notes",
    ),
    Mutation(
        "journal_api/mcp/connections.py",
        "partial(prepare, settings, creates=False)",
        "partial(prepare, settings)",
        "test_between_calls_the_file_may_be_replaced",
    ),
    Mutation(
        "journal_api/mcp/server.py",
        "if writes or not tool.writes",
        "if True",
        "test_an_agent_finds_eight_tools_that_only_read",
    ),
    Mutation(
        "journal_api/repositories/goals.py",
        "ON CONFLICT DO UPDATE SET target_value = excluded.target_value",
        "ON CONFLICT DO NOTHING",
        "test_the_last_target_of_a_day_is_the_one_in_force",
    ),
    Mutation(
        "journal_api/repositories/goals.py",
        "is_redefined = not DEFINITION.isdisjoint(columns)",
        'is_redefined = "metric" in columns',
        "test_a_new_definition_gives_closed_periods_the_target_in_force_then",
    ),
    Mutation(
        "journal_api/repositories/goals.py",
        "BEGINNING if is_first else today",
        "today",
        "test_a_new_definition_gives_closed_periods_the_target_in_force_then",
    ),
    Mutation(
        "journal_api/repositories/idempotency_keys.py",
        "user_id = :user_id AND key = :key AND created_at > :a_day_ago",
        "key = :key AND created_at > :a_day_ago",
        "test_a_key_is_of_its_user_and_a_replay_needs_the_scope",
    ),
    Mutation(
        "journal_api/repositories/imported_trades.py",
        "AND content IS NULL",
        "",
        "test_a_trade_of_a_file_without_ids_is_not_taken_for_one_that_was_entered_by_hand",
    ),
    Mutation(
        "journal_api/repositories/imports.py",
        "AND (:force OR trades.updated_at = before.written_at)",
        "",
        "test_a_corrected_trade_that_was_edited_since_is_kept_and_named",
    ),
    Mutation(
        "journal_api/repositories/imports.py",
        "DELETE FROM trades WHERE import_id = :id AND (:force OR updated_at = created_at)",
        "DELETE FROM trades WHERE import_id = :id",
        "test_a_new_trade_that_was_edited_since_is_kept_and_named",
    ),
    Mutation(
        "journal_api/repositories/setups.py",
        "any(any(changes) for changes in diff)",
        "any(diff.setups)",
        "test_a_change_below_the_strategy_moves_its_updated_at",
    ),
    Mutation(
        "journal_api/rules/edge.py",
        "/ (self.size - 1) / self.size",
        "/ self.size / self.size",
        "test_an_edge_is_what_a_person_computes",
    ),
    Mutation(
        "journal_api/rules/goal_history.py",
        "newest = min(state.newest, last)",
        "newest = state.newest",
        "test_a_period_is_open_again_after_the_clock_was_set_back_into_it",
    ),
    Mutation(
        "journal_api/repositories/snapshot_refreshes.py",
        "    await save_cursor(db, history.state)",
        "    pass",
        "test_a_change_out_of_scope_is_looked_at_only_once",
    ),
    Mutation(
        "journal_api/repositories/snapshots.py",
        "AND evaluated_on IS :today",
        "AND evaluated_on IS NOT NULL",
        "test_a_period_runs_to_its_last_moment_and_then_the_next_begins",
    ),
    Mutation(
        "journal_api/repositories/goal_states.py",
        "WHERE goals.id = :id AND (status <> 'active') = :is_stopped",
        "WHERE goals.id = :id",
        "test_from_paused_to_archived_nothing_moves",
    ),
    Mutation(
        "journal_api/repositories/snapshot_refreshes.py",
        "period_start < :first",
        "period_start <= :first",
        "test_periods_before_the_first_trade_go_when_it_is_deleted",
    ),
    Mutation(
        "journal_api/repositories/reports.py",
        "ORDER BY source_trade_id IS NOT NULL, trading_day",
        "ORDER BY trading_day",
        "test_a_decision_is_wholly_in_the_group_of_its_original",
    ),
    Mutation(
        "journal_api/repositories/reports.py",
        "SELECT DISTINCT coalesce(source_trade_id, id)",
        "SELECT coalesce(source_trade_id, id)",
        "test_a_decision_is_in_the_group_of_every_tag_that_any_of_its_trades_has",
    ),
    Mutation(
        "journal_api/values/money.py",
        "if self.is_out_of_range or",
        "if",
        "test_a_sum_beyond_64_bits_is_out_of_range_in_its_group_alone",
    ),
    Mutation(
        "journal_api/repositories/sql.py",
        "if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:",
        "if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CONSTRAINT:",
        "test_only_a_value_that_is_taken_is_a_duplicate_name",
    ),
    Mutation(
        "journal_api/repositories/statistics_sql.py",
        "max(max(peak, 0) - equity)",
        "max(peak - equity)",
        "test_drawdown_begins_anew_with_the_period_and_its_peak_at_zero",
    ),
    Mutation(
        "journal_api/repositories/statistics_sql.py",
        "sum(initial_risk) AS",
        "max(initial_risk) AS",
        "test_a_metric_is_what_a_person_computes_from_the_trades",
    ),
    Mutation(
        "journal_api/repositories/statistics_sql.py",
        "sum(pnl < 0) OVER (PARTITION",
        "sum(pnl <= 0) OVER (PARTITION",
        "test_a_break_even_neither_adds_to_a_streak_nor_breaks_it",
    ),
    Mutation(
        "journal_api/repositories/statistics_sql.py",
        "max(is_mistake) AS",
        "min(is_mistake) AS",
        "test_a_decision_has_the_grade_of_the_original_and_the_mistakes_of_any_copy",
    ),
    Mutation(
        "journal_api/repositories/statistics_sql.py",
        "coalesce(source_trade_id, id)) AS original",
        "id) AS original",
        "test_a_decision_across_currencies_counts_by_its_original",
    ),
    Mutation(
        "journal_api/repositories/statistics_sql.py",
        "min(trading_day || closed_at ||",
        "min(trading_day ||",
        "test_of_copies_without_their_original_the_one_that_closed_first_gives_the_grade",
    ),
    Mutation(
        "journal_api/repositories/statistics_sql.py",
        "closed_at, id\n                                       ROWS UNBOUNDED PRECEDING) AS equity",
        "id\n                                       ROWS UNBOUNDED PRECEDING) AS equity",
        "test_a_drawdown_follows_the_closes_whatever_the_ids_are",
    ),
    Mutation(
        "journal_api/repositories/statistics_sql.py",
        "sum(net_pnl > 0) AS winning_days",
        "sum(net_pnl >= 0) AS winning_days",
        "test_a_day_that_breaks_even_is_no_winning_day",
    ),
    Mutation(
        "journal_api/repositories/strategies.py",
        'return None if text == "null" else text',
        "return text",
        "test_free_form_json_of_null_is_stored_as_null",
    ),
    Mutation(
        "journal_api/repositories/strategies.py",
        "if 0 < maximum < number:",
        "if 0 < maximum <= number:",
        "test_a_strategy_over_the_maximum_is_refused_with_the_numbers",
    ),
    Mutation(
        "journal_api/repositories/strategies.py",
        "if changed or has_new_setups:",
        "if changed:",
        "test_a_change_below_the_strategy_moves_its_updated_at",
    ),
    Mutation(
        "journal_api/rules/goal_history.py",
        "closed=period.end < state.today",
        "closed=period.end <= state.today",
        "test_every_period_has_a_snapshot_but_days_only_with_a_trade_and_today",
    ),
    Mutation(
        "journal_api/rules/goal_history.py",
        "day = period.end if period.end < state.today else date.max",
        "day = period.end",
        "test_the_running_period_has_the_target_of_the_goal_after_a_move_to_a_zone_of_yesterday",
    ),
    Mutation(
        "journal_api/rules/goal_history.py",
        "min(max(first, *changed[:1]), newest)",
        "max(first, *changed[:1])",
        "test_a_balance_of_every_month_since_the_last_read_is_there_after_a_late_trade",
    ),
    Mutation(
        "journal_api/rules/pace.py",
        "room * 5 <= abs",
        "room * 5 < abs",
        "test_a_limit_is_near_from_four_fifths_of_it_on",
    ),
    Mutation(
        "journal_api/rules/pace.py",
        "return left - (has_today and self.has_traded_today)",
        "return left",
        "test_only_a_trade_in_scope_that_is_closed_ends_the_day",
    ),
    Mutation(
        "journal_api/repositories/goals.py",
        'columns["evaluated_on"] = None  #',
        "pass  #",
        "test_a_stopped_goal_has_no_pace_until_it_is_active_again",
    ),
    Mutation(
        "journal_api/rules/reports.py",
        "return value is None, sign",
        "return value is not None, sign",
        "test_groups_are_sorted_by_net_pnl_or_by_any_metric",
    ),
    Mutation(
        "journal_api/rules/setup_diff.py",
        "unknown_confirmations += [",
        "unknown_confirmations = [",
        "test_every_unknown_and_every_repeated_id_is_named_once",
    ),
    Mutation(
        "journal_api/trade_files/date_cells.py",
        "if not 1 <= int(hour) <= 12:",
        "if not 0 <= int(hour) <= 12:",
        "test_an_hour_before_am_and_pm_is_1_to_12",
    ),
    Mutation(
        "journal_api/trade_files/fills.py",
        "if fill.instrument != last[0]:",
        "if False:",
        "test_a_symbol_that_is_still_held_leaves_the_next_one_flat",
    ),
    Mutation(
        "journal_api/trade_files/fills.py",
        "self.cost = fill.cost - fill.cost_of(fill.quantity - opening.quantity)",
        "self.cost = fill.cost",
        "test_the_cost_of_a_fill_beyond_flat_is_split_by_quantity_to_the_last_decimal",
    ),
    Mutation(
        "journal_api/trade_files/fill_book.py",
        "if fill_id.text in self._ids_of_account[account]:",
        "if fill_id.text in self._ids_of_account[None]:",
        "test_an_id_stands_once_in_an_account_that_the_file_names",
    ),
    Mutation(
        "journal_api/trade_files/fill_book.py",
        "has_errors |= isinstance(result, Rejected)",
        "has_errors = False",
        "test_of_a_file_with_broken_fills_only_those_are_told_in_the_order_of_the_lines",
    ),
    Mutation(
        "journal_api/trade_files/formats/metatrader_positions.py",
        "EXACT.minus(booked)",
        "booked",
        "test_profit_is_gross_and_commission_and_swap_are_the_fees",
    ),
    Mutation(
        "journal_api/trade_files/dates.py",
        'any(int(date["second"]) > 12 for date in dates)',
        'any(int(date["second"]) >= 12 for date in dates)',
        "test_a_twelve_in_second_place_does_not_say_that_months_stand_first",
    ),
    Mutation(
        "journal_api/trade_files/formats/tradezella_trades.py",
        "or abs(rise) <= ROUNDING:",
        "or abs(rise) < ROUNDING:",
        "test_a_contradiction_within_the_rounding_of_the_averages_is_none",
    ),
    Mutation(
        "journal_api/trade_files/profiles/trades.py",
        "(sold_at, sell_id) < (bought_at, buy_id)",
        "sold_at < bought_at",
        "test_the_fill_that_came_first_tells_long_from_short",
    ),
    Mutation(
        "journal_api/trade_files/copies.py",
        "                self._originals |= dict.fromkeys(visited, original_id)",
        "                pass",
        "test_two_copies_of_a_copy_may_stand_before_it_and_the_original",
    ),
    Mutation(
        "journal_api/trade_files/matching.py",
        'if (fields["closed_at"] is None) != (fields["gross_pnl"] is None):',
        "if False:",
        "test_a_correction_closes_a_trade_again_that_the_trader_has_reopened",
    ),
    Mutation(
        "journal_api/trade_files/names.py",
        'if number > 1 and columns["external_id"] is not None:',
        "if number > 1:",
        "test_identical_fills_are_as_many_trades_as_there_are_rows",
    ),
    Mutation(
        "journal_api/trade_files/names.py",
        '"big") ^ account_id',
        '"big")',
        "test_an_external_id_is_another_trade_in_another_account_of_the_same_file",
    ),
    Mutation(
        "journal_api/trade_files/rows.py",
        "and len(self._cells) < MAX_COLUMNS:",
        ":",
        "test_the_cells_of_a_row_of_html_beyond_the_1000th_are_left_out",
    ),
    Mutation(
        "journal_api/values/free_form.py",
        '_STRING.sub(b"", value)',
        "sent",
        "test_brackets_in_strings_are_no_levels",
    ),
    Mutation(
        "journal_api/repositories/reports.py",
        "WHEN held < {",
        "WHEN held <= {",
        "test_the_upper_bound_of_a_holding_time_belongs_to_the_next_range",
    ),
    Mutation(
        "journal_api/values/metric_formulas.py",
        "self.actual >= target if",
        "self.actual > target if",
        "test_money_is_exact_and_compared_exactly",
    ),
    Mutation(
        "journal_api/values/money.py",
        "exponent + zeros < -8",
        "exponent + zeros < -9",
        "test_nine_decimals_are_refused",
    ),
    Mutation(
        "journal_api/values/periods.py",
        "local.time() >= rollover",
        "local.time() > rollover",
        "test_the_futures_day_ends_at_17_00_in_new_york_all_year",
    ),
    Mutation(
        "journal_api/values/timestamps.py",
        "if not 1970 <= self.year <= 2200:",
        "if not 1970 <= self.year <= 2201:",
        "test_a_time_beyond_the_years_1970_to_2200_is_refused",
    ),
    Mutation(
        "journal_api/values/timestamps.py",
        "return offset if zone.utcoffset(first.replace(hour=23, minute=59, second=59)) == offset else None",
        "return offset",
        "test_a_time_is_stored_as_the_instant_that_its_zone_says",
    ),
    Mutation(
        "journal_api/values/types.py",
        'return unicodedata.normalize("NFC", name.casefold())',
        "return name.casefold()",
        "test_a_name_is_sorted_by_its_composed_form_without_case",
    ),
    Mutation(
        "journal_api/web/auth.py",
        "key.expires_at <= now()",
        "key.expires_at < now()",
        "test_a_key_has_expired_at_the_moment_that_it_names",
    ),
    Mutation(
        "journal_api/web/auth.py",
        "if version is None or version != self._version:",
        "if version != self._version:",
        "test_no_key_is_remembered_while_the_version_of_the_file_is_unknown",
    ),
    Mutation(
        "journal_api/web/auth.py",
        "if key is not None and version == self._version:",
        "if key is not None:",
        "test_a_key_that_is_revoked_during_its_look_up_is_not_remembered",
    ),
    Mutation(
        "journal_api/web/auth.py",
        "if key is None and is_well_formed(text):",
        "if key is None:",
        "test_a_key_of_another_form_is_refused_although_its_hash_is_stored",
    ),
    Mutation(
        "journal_api/web/auth.py",
        "key.revoked_at is not None:",
        "key.revoked_at is not None and key.expires_at is None:",
        "test_a_key_that_was_revoked_and_has_expired_is_401_key_revoked",
    ),
    Mutation(
        "journal_api/repositories/trade_annotations.py",
        "question.setup_id == setup_id",
        "True",
        "test_a_patch_to_another_setup_brings_answers_to_its_checklist",
    ),
    Mutation(
        "journal_api/routes/trades.py",
        "UNSET if patch.sends_back(stored.confirmations) else ",
        "",
        "test_a_whole_trade_that_was_read_is_moved_to_another_setup_without_its_answers",
    ),
    Mutation(
        "journal_api/rules/setup_diff.py",
        "number != before[row_id].sort_order",
        "True",
        "test_a_list_that_is_read_reversed_and_sent_back_is_reversed",
    ),
    Mutation(
        "journal_api/web/dispatch.py",
        'scope["path"].removeprefix(scope.get("root_path", ""))',
        'scope["path"]',
        "test_a_service_that_is_mounted_under_a_prefix_answers_below_it",
    ),
    Mutation(
        "journal_api/web/dispatch.py",
        "methods |= getattr(",
        "methods = getattr(",
        "test_every_other_method_is_405_naming_those_of_the_path",
    ),
    Mutation(
        "schema.sql",
        "CHECK (source_trade_id IS NOT id)",
        "CHECK (true)",
        "test_the_schema_keeps_a_trade_from_being_a_copy_of_itself",
    ),
    Mutation(
        "schema.sql",
        "SET source_trade_id = (SELECT min(id)",
        "SET source_trade_id = (SELECT max(id)",
        "test_copies_whose_original_is_taken_back_stay_one_decision_led_by_the_oldest",
    ),
    Mutation(
        "schema.sql",
        "AFTER UPDATE OF timezone, day_rollover ON users",
        "AFTER UPDATE OF timezone ON users",
        "test_a_new_zone_or_rollover_is_named_in_every_period",
    ),
)


def times_in_file(mutation: Mutation, repository: Path = REPOSITORY) -> int:
    """How often the text to replace stands in the file; 0 without the file."""
    file = repository / mutation.file
    return file.read_text(encoding="utf-8").count(mutation.before) if file.is_file() else 0


def files_of_tests(repository: Path = REPOSITORY) -> dict[str, set[str]]:
    """The files, relative to the repository, in which a test function of each name is defined."""
    files: dict[str, set[str]] = {}
    for file in (repository / "tests").rglob("test_*.py"):
        for name in re.findall(
            r"^(?:async )?def (test_\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            files.setdefault(name, set()).add(file.relative_to(repository).as_posix())
    return files


def node_ids(mutations: Iterable[Mutation], files: dict[str, set[str]]) -> list[str]:
    """The pytest node ids of the tests of these mutations. Raises KeyError for a test that does not exist."""
    names = dict.fromkeys(name for mutation in mutations for name in mutation.tests.split())
    return [f"{file}::{name}" for name in names for file in sorted(files[name])]


def run_tests(copy: Path, nodes: list[str], *, writes_bytecode: bool) -> subprocess.CompletedProcess[str]:
    """Run the tests in the copy, on the modules of the copy."""
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--basetemp={copy.parent / 'basetemp'}"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    if not writes_bytecode:
        # Bytecode is told stale by second and size, so that of a mutation could outlive it.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *nodes],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def verdict_of(copy: Path, mutation: Mutation, files: dict[str, set[str]]) -> str:
    """`killed`, `survived`, or why the mutation could not be tried."""
    if times_in_file(mutation, copy) != 1:
        return "not there exactly once"
    file = copy / mutation.file
    original = file.read_bytes()
    file.write_text(original.decode().replace(mutation.before, mutation.after), encoding="utf-8")
    try:
        ran = run_tests(copy, node_ids([mutation], files), writes_bytecode=False)
    finally:
        file.write_bytes(original)
    verdicts = {PASSED: "survived", FAILED: "killed"}
    return verdicts.get(ran.returncode, f"pytest could not run: {ran.stdout[-2000:]}{ran.stderr[-2000:]}")


def main(words: list[str]) -> int:
    chosen = [one for one in MUTATIONS if all(word in f"{one.file} {one.before}" for word in words)]
    if not chosen:
        sys.stdout.write(f"No mutation contains {' and '.join(words)}\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(REPOSITORY, copy, ignore=NOT_COPIED)
        files = files_of_tests(copy)
        ran = run_tests(copy, node_ids(chosen, files), writes_bytecode=True)
        if ran.returncode != PASSED:
            sys.stdout.write(f"The tests fail without a mutation:\n{ran.stdout}{ran.stderr}")
            return 1
        killed = 0
        for mutation in chosen:
            verdict = verdict_of(copy, mutation, files)
            killed += verdict == "killed"
            sys.stdout.write(f"{verdict:8}  {mutation.file}: {mutation.before!r} -> {mutation.after!r}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{killed} of {len(chosen)} killed\n")
    return 0 if killed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
