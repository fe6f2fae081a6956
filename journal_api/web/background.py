"""Work that is repeated in the background while the application runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def repeat(work: Callable[[], Awaitable[None]], seconds: float) -> AsyncIterator[None]:
    """Call `work` now and then every so many seconds, until the end of the block."""

    async def keep_repeating() -> None:
        while True:
            await work()
            await asyncio.sleep(seconds)

    task = asyncio.create_task(keep_repeating())
    try:
        yield
    finally:
        while not task.done():  # again, because a write ignores a cancellation during its commit
            task.cancel()
            await asyncio.wait([task], timeout=0.1)
