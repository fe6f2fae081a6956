// A copy of a journal that follows its changes: copy this file into your program (docs/embedding.md).
const belowAccounts = ["cash", "checkpoints"];
const lists: Record<string, string> = {
  accounts: "/accounts",
  copy_groups: "/copy-groups",
  tag_categories: "/tag-categories",
  tags: "/tags",
  strategies: "/strategies?with=setups",
  goals: "/goals?status=all&with=snapshot",
  imports: "/imports",
  instruments: "/instruments",
  trades: "/trades?limit=200",
};

type Item = { id?: number; root?: string };
type Change = { resource: string; id: number | string | null };
type Items = Map<number | string, Item>;

export class Mirror {
  cursor = "";
  objects: Record<string, Items> = {};

  constructor(
    private url: string,
    private key: string,
  ) {}

  private async get(path: string): Promise<any> {
    const response = await fetch(`${this.url}/v1${path}`, { headers: { Authorization: `Bearer ${this.key}` } });
    if (response.status === 404 || response.status === 410) return null;
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }

  async readEverything(): Promise<void> {
    this.cursor = (await this.get("/changes")).meta.cursor; // before anything is read
    for (const [resource, path] of Object.entries(lists)) this.objects[resource] = await this.readList(path);
    for (const resource of belowAccounts) await this.readBelowAccounts(resource);
    const { changes } = (await this.get(`/changes?since=${this.cursor}`)).data;
    if (this.objects.trades!.size >= 200 && changes.length) await this.readEverything();
  }

  private async readList(path: string): Promise<Items> {
    const items: Items = new Map();
    for (let total = 1; items.size < total; ) {
      const answer = await this.get(items.size ? `${path}${path.includes("?") ? "&" : "?"}offset=${items.size}` : path);
      const page = answer ? (Object.values(answer.data)[0] as Item[]) : [];
      for (const item of page) items.set((item.id ?? item.root)!, item);
      total = page.length ? (answer.meta.pagination?.total ?? 0) : 0;
    }
    return items;
  }

  private async readBelowAccounts(resource: string): Promise<void> {
    const items: Items = new Map();
    for (const id of this.objects.accounts!.keys())
      for (const [key, item] of await this.readList(`/accounts/${id}/${resource}`)) items.set(key, item);
    this.objects[resource] = items;
  }

  /** Read again what changed. Says whether anything did, after up to `wait` seconds. */
  async follow(wait = 0): Promise<boolean> {
    const answer = await this.get(`/changes?since=${this.cursor}&wait=${wait}`);
    if (answer === null) return this.readEverything().then(() => true); // the cursor has expired
    const changes: Change[] = answer.data.changes;
    const named = new Set(changes.map((change) => change.resource));
    const ids = changes.filter((change) => change.resource === "trades").map((change) => change.id!);
    for (let at = 0; at < ids.length; at += 200) await this.readTrades(ids.slice(at, at + 200));
    for (const [resource, path] of Object.entries(lists))
      if (named.has(resource) && resource !== "trades") this.objects[resource] = await this.readList(path);
    for (const resource of belowAccounts) if (named.has(resource)) await this.readBelowAccounts(resource);
    this.cursor = answer.meta.cursor;
    return changes.length > 0;
  }

  /** Read up to 200 trades again. Those that are not there any more are deleted. */
  private async readTrades(ids: (number | string)[]): Promise<void> {
    const answer = await this.get(`/trades?ids=${ids.join()}`);
    for (const id of ids) this.objects.trades!.delete(id);
    for (const trade of answer.data.trades) this.objects.trades!.set(trade.id, trade);
  }
}
