"""Handler of the list of goal metrics, which is constant."""

from aiosqlite import Connection
from msgspec import json
from starlette.requests import Request

from journal_api.metrics.metrics import METRICS
from journal_api.structs.metrics import Metric
from journal_api.web.responses import Response, ok

METRICS_JSON = json.encode(
    [
        Metric(
            key=metric.key,
            title=metric.title,
            description=metric.description,
            unit=metric.unit,
            natural_direction=metric.direction,
        )
        for metric in METRICS.values()
    ]
).decode()


async def list_metrics(request: Request, db: Connection) -> Response:
    """List all metrics: key, title, description, unit and natural direction."""
    return ok(metrics=METRICS_JSON)
