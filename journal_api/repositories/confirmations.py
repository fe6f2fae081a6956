"""SQL of confirmations. Foreign keys delete the answers to a deleted confirmation."""

from journal_api.repositories.sql import build_json_array

# The SELECT of the confirmations of a row of `setups`, as one JSON array.
CONFIRMATIONS = build_json_array(
    "confirmation",
    """
    SELECT json_object(
        'confirmation_id', id,
        'name', name,
        'description', description,
        'sort_order', sort_order) AS confirmation
    FROM confirmations
    WHERE setup_id = setups.id
    ORDER BY sort_order, id
    """,
)
