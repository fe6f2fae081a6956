"""What numbers mean: the statistics of trades, and the metrics and groupings made of them, an entry each."""
