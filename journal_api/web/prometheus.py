"""Request metrics in Prometheus's text format."""

from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from journal_api import __version__
from journal_api.web.auth import authorize
from journal_api.web.request_log import HandledRequest

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Seconds: a read takes about one millisecond, a large import minutes.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60)


class RequestMetrics:
    """Counts requests, and measures durations and files. Only an instance imports prometheus_client."""

    def __init__(self, db: Path, schema: int) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector

        self.registry = CollectorRegistry()
        self.requests = Counter(
            "journal_requests",
            "Finished requests by method, route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "journal_request_seconds",
            "Time from the headers of a request to the end of its response.",
            ["method", "route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        about = Info("journal", "The release and the schema version.", registry=self.registry)
        about.info({"version": __version__, "schema": str(schema)})
        sizes = Gauge("journal_file_bytes", "The size of the file.", ["file"], registry=self.registry)
        sizes.labels("database").set_function(make_size_reader(db))
        sizes.labels("log").set_function(make_size_reader(db.with_name(f"{db.name}-wal")))
        ProcessCollector(registry=self.registry)

    async def get_metrics(self, request: Request) -> Response:
        """The handler of GET /metrics, outside /v1, which accepts any valid key."""
        from prometheus_client import generate_latest

        authorize(request, None)
        return Response(generate_latest(self.registry), media_type=MEDIA_TYPE)

    def count(self, request: HandledRequest) -> None:
        # Labels of unknown routes are left empty: clients could create any number of time series.
        method = request.method if request.route else ""
        route = request.route or ""
        self.requests.labels(method, route, request.status or "gone").inc()
        self.seconds.labels(method, route).observe(request.ms / 1000)


def make_size_reader(file: Path) -> Callable[[], float]:
    """A function that returns the file's size in bytes, 0 if it does not exist, without opening it."""
    return lambda: file.stat().st_size if file.exists() else 0
