"""SQL of the pictures of a day."""


def list_of_day(date: str) -> str:
    """Return an SQL expression for the pictures of the user's day in that column, as a JSON array."""
    return "'[]'"
