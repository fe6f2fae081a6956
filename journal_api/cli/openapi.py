"""`journal-api openapi`: print the OpenAPI document."""

import click

from journal_api.openapi import document


@click.command("openapi")
def print_description() -> None:
    """Print the OpenAPI document, which the server returns for GET /openapi.json."""
    click.echo(document.document())
