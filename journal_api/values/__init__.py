"""What the rest is made of: types, instants, money, periods, metrics, keys."""
