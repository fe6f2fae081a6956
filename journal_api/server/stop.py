"""A server that ends waiting requests and searches when it stops."""

import socket

import uvicorn


class Server(uvicorn.Server):
    """A uvicorn server whose requests stop waiting for changes, and searching, once it shuts down.

    It overrides `shutdown`, which is public in uvicorn. The lifespan ends too late: after the last request.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state = self.config.loaded_app.state
        state.change_signal.stop()
        state.database.is_stopping = True
        await super().shutdown(sockets)
