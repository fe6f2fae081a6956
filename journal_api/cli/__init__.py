"""The `journal-api` command. An error prints one line on standard error; the exit status is 1."""

import gc
import os
import sqlite3
import sys
from importlib import import_module

import click

from journal_api import __version__
from journal_api.errors import ApiError, DatabaseRefused
from journal_api.settings import SettingsError

# Module and function of each command.
COMMANDS = {
    "backup": ("maintenance", "make_backup"),
    "check": ("maintenance", "check_journal"),
    "export": ("export", "export_file"),
    "import": ("import_trades", "import_file"),
    "import-all": ("export", "import_folder"),
    "keys": ("keys", "keys_group"),
    "mcp": ("mcp", "serve_agents"),
    "openapi": ("openapi", "print_description"),
    "report": ("report", "print_report"),
    "restore": ("maintenance", "restore_backup"),
    "serve": ("serve", "serve"),
    "status": ("status", "print_status"),
    "users": ("users", "users_group"),
    "watch": ("watch", "watch_folder"),
}


def main() -> None:
    """Run the command that the arguments name."""
    os.umask(0o077)
    gc.set_threshold(10_000)  # an import makes a million objects that stay: it takes 0.8 x the time
    try:
        cli(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
    except click.ClickException as error:
        exit_with(error.format_message())
    except (ApiError, DatabaseRefused, SettingsError, OSError, sqlite3.Error) as error:
        exit_with(str(error))
    except (click.Abort, KeyboardInterrupt):
        sys.exit("journal-api: stopped")


def exit_with(message: str) -> None:
    from journal_api.cli.common import one_line  # imports the database, which --help does not need

    sys.exit(one_line(message))


class LazyGroup(click.Group):
    """Imports only the command that runs: together they take longer to import than most of them to run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, function = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"journal_api.cli.{module}"), function)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(version)s")
def cli() -> None:
    """A self-hosted trading journal with an HTTP API: trades, tags, strategies and goals."""
