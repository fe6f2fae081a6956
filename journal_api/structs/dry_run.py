"""The query of a request that can be tried without being kept (docs/api.md#dry-runs)."""

from msgspec import Struct


class DryRunQuery(Struct, kw_only=True):
    dry_run: bool = False

    @property
    def commit(self) -> bool:
        """Whether the changes are kept."""
        return not self.dry_run
