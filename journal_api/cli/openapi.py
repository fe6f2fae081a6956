"""`journal-api openapi`: print the OpenAPI document."""

import click

from journal_api.openapi.docs_page import read_document


@click.command("openapi")
def print_description() -> None:
    """Print the OpenAPI document, which the server returns for GET /openapi.json."""
    click.echo(read_document(), nl=False)
