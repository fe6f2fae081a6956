"""A server that responds to waiting requests when it stops."""

import socket

import uvicorn


class Server(uvicorn.Server):
    """A uvicorn server whose requests stop waiting for changes once it shuts down.

    It overrides `shutdown`, which is public in uvicorn. The lifespan ends too late: after the last request.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.loaded_app.state.change_signal.stop()
        await super().shutdown(sockets)
