"""The `journal-api` command. An error prints one line on standard error; the exit status is 1."""

import os
import sqlite3
import sys

import click

from journal_api import __version__
from journal_api.cli import export, import_trades, keys, maintenance, mcp, openapi, report, serve, status, users, watch
from journal_api.cli.common import one_line
from journal_api.errors import ApiError, DatabaseRefused
from journal_api.settings import SettingsError


def main() -> None:
    """Run the command that the arguments name."""
    os.umask(0o077)
    try:
        cli(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
    except click.ClickException as error:
        sys.exit(one_line(error.format_message()))
    except (ApiError, DatabaseRefused, SettingsError, OSError, sqlite3.Error) as error:
        sys.exit(one_line(str(error)))
    except (click.Abort, KeyboardInterrupt):
        sys.exit("journal-api: stopped")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(version)s")
def cli() -> None:
    """A self-hosted trading journal with an HTTP API: trades, tags, strategies and goals."""


for command in (
    serve.serve,
    users.users_group,
    keys.keys_group,
    status.print_status,
    import_trades.import_file,
    watch.watch_folder,
    export.export_file,
    export.import_folder,
    report.print_report,
    maintenance.check_journal,
    maintenance.make_backup,
    maintenance.restore_backup,
    mcp.serve_agents,
    openapi.print_description,
):
    cli.add_command(command)
