"""The query of a request that can be tried without being kept (docs/api.md#dry-runs)."""

from msgspec import Struct

from journal_api.values.types import Flag, is_yes


class DryRunQuery(Struct, kw_only=True):
    dry_run: Flag = "false"

    @property
    def commit(self) -> bool:
        """Whether the changes are kept."""
        return not is_yes(self.dry_run)
