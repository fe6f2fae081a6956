"""`journal-api openapi`: print the OpenAPI document."""

import click

from journal_api.openapi import document


@click.command("openapi")
def print_description() -> None:
    """Print the OpenAPI document, which a server answers GET /openapi.json with."""
    click.echo(document.document())
