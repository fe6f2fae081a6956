"""A copy of a journal that follows its changes: copy this file into your program (docs/embedding.md)."""

import httpx

BELOW_ACCOUNTS = ("cash", "checkpoints")
LISTS = {
    "accounts": "/accounts",
    "copy_groups": "/copy-groups",
    "tag_categories": "/tag-categories",
    "tags": "/tags",
    "strategies": "/strategies?with=setups",
    "goals": "/goals?status=all&with=snapshot",
    "imports": "/imports",
    "instruments": "/instruments",
    "trades": "/trades?limit=200",
}


class Mirror:
    """A copy of a journal. `journal` is an httpx.Client with the address and the key."""

    def __init__(self, journal):
        self.journal = journal
        self.read_everything()

    def get(self, path, **query):
        response = self.journal.get(path, params={**httpx.URL(path).params, **query})
        return None if response.status_code in (404, 410) else response.raise_for_status().json()

    def read_everything(self):
        self.cursor = self.get("/changes")["meta"]["cursor"]  # before anything is read
        self.objects = {resource: self.read_list(path) for resource, path in LISTS.items()}
        self.objects |= {resource: self.read_below_accounts(resource) for resource in BELOW_ACCOUNTS}
        if len(self.objects["trades"]) >= 200 and self.changes()["data"]["changes"]:
            self.read_everything()

    def read_list(self, path):
        items, total = {}, 1
        while len(items) < total and (answer := self.get(path, **({"offset": len(items)} if items else {}))):
            (page,) = answer["data"].values()
            items |= {item["id"] if "id" in item else item["root"]: item for item in page}
            total = answer["meta"].get("pagination", {"total": 0})["total"] if page else 0
        return items

    def read_below_accounts(self, resource):
        lists = [self.read_list(f"/accounts/{number}/{resource}") for number in self.objects["accounts"]]
        return {number: item for items in lists for number, item in items.items()}

    def changes(self, wait=0):
        return self.get("/changes", since=self.cursor, wait=wait)

    def follow(self, wait=0):
        """Read again what changed. Return whether anything did, after up to `wait` seconds."""
        answer = self.changes(wait)
        if answer is None:  # the cursor has expired
            self.read_everything()
            return True
        changes = answer["data"]["changes"]
        trade_ids = [change["id"] for change in changes if change["resource"] == "trades"]
        for at in range(0, len(trade_ids), 200):
            self.read_trades(trade_ids[at : at + 200])
        named = {change["resource"] for change in changes} - {"trades"}
        self.objects |= {resource: self.read_list(LISTS[resource]) for resource in LISTS if resource in named}
        for resource in BELOW_ACCOUNTS:
            if resource in named:
                self.objects[resource] = self.read_below_accounts(resource)
        self.cursor = answer["meta"]["cursor"]
        return bool(changes)

    def read_trades(self, ids):
        """Read up to 200 trades again. Those that are not there any more are deleted."""
        answer = self.get("/trades", ids=",".join(map(str, ids)))
        for trade_id in ids:
            self.objects["trades"].pop(trade_id, None)
        self.objects["trades"] |= {trade["id"]: trade for trade in answer["data"]["trades"]}
