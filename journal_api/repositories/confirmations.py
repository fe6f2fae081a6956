"""Confirmations: the checklist of a setup. Answers on a deleted one go by their foreign key."""

# The confirmations of the setup in hand, as one JSON array.
CONFIRMATIONS = """json((
    SELECT json_group_array(json_object(
        'confirmation_id', id,
        'name', name,
        'description', description,
        'sort_order', sort_order))
    FROM (SELECT id, name, description, sort_order
          FROM confirmations
          WHERE setup_id = setup.id
          ORDER BY sort_order, id)))"""
