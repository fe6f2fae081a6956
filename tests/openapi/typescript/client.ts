// A client of the journal from openapi-typescript and openapi-fetch with their default options.
// tests/openapi/test_generators.py compiles it with `tsc --strict` and runs it against a server.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type StrategyPatch = components["schemas"]["StrategyPatch"];

declare const process: { env: Record<string, string | undefined> };
const { JOURNAL_URL: baseUrl, JOURNAL_KEY: key, JOURNAL_CSV: csv } = process.env;
if (!baseUrl || !key || !csv) throw new Error("JOURNAL_URL, JOURNAL_KEY and JOURNAL_CSV must be set");

const journal = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

/** The data of a successful response; any other response is an exception. */
async function data<Envelope extends { data: unknown }>(
  response: Promise<{ data?: Envelope; error?: unknown }>,
): Promise<Envelope["data"]> {
  const { data, error } = await response;
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
}

function check(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not true: ${what}`);
}

// Create: members with defaults are left out.
const { tag_category: category } = await data(
  journal.POST("/v1/tag-categories", { body: { name: "Psychology" } }),
);
const { tag } = await data(journal.POST("/v1/tags", { body: { category_id: category.id, name: "FOMO" } }));
check(tag.type === "custom", "a tag is custom by default");
const { strategy } = await data(
  journal.POST("/v1/strategies", {
    body: {
      name: "Opening range",
      risk_rules: { max_risk_per_trade: 50, stops: { first: "below the low" } },
      setups: [{ name: "Break of the high", confirmations: [{ name: "Volume above average" }] }],
    },
  }),
);
const { account } = await data(journal.POST("/v1/accounts", { body: { name: "Main", starting_balance: 25000 } }));
const { trade } = await data(
  journal.POST("/v1/trades", {
    body: {
      account_id: account.id,
      symbol: "MES",
      direction: "long",
      quantity: 2,
      multiplier: 5,
      entry_price: 100,
      exit_price: 103,
      opened_at: "2026-08-04T13:47:00Z",
      closed_at: "2026-08-04T14:12:00Z",
      setup_id: strategy.setups[0]?.setup_id,
    },
  }),
);
check(trade.net_pnl === 30, "2 x 5 x (103 - 100) is 30");
const { goal } = await data(
  journal.POST("/v1/goals", { body: { goal_name: "A green month", metric: "net_pnl", target_value: 20 } }),
);

// Read, edit, send back the whole object.
const path = (id: number) => ({ params: { path: { id } } });
const read = (await data(journal.GET("/v1/strategies/{id}", path(strategy.id)))).strategy;
const edited: StrategyPatch = {
  ...read,
  name: "Opening drive",
  risk_rules: { ...read.risk_rules, max_risk_per_trade: 75 },
  setups: [...read.setups, { name: "Failed break" }],
};
const patched = (await data(journal.PATCH("/v1/strategies/{id}", { ...path(read.id), body: edited }))).strategy;
check(patched.name === "Opening drive", "the strategy has its new name");
check(patched.risk_rules?.["max_risk_per_trade"] === 75, "the rule is new");
check(patched.setups.length === 2, "there is another setup");
check(patched.setups[0]?.setup_id === read.setups[0]?.setup_id, "the first setup is the same");

const whole = (await data(journal.GET("/v1/trades/{id}", path(trade.id)))).trade;
const graded = await data(journal.PATCH("/v1/trades/{id}", { ...path(trade.id), body: { ...whole, grade: "A+" } }));
check(graded.trade.grade === "A+" && graded.trade.net_pnl === 30, "the trade is graded");
const same = await data(journal.PATCH("/v1/goals/{id}", { ...path(goal.id), body: goal }));
check(same.goal.updated_at === goal.updated_at, "a goal sent back as it was read is not written");

// Snapshots and the inputs of their values.
const { snapshots } = await data(
  journal.GET("/v1/goals/{id}/snapshots", {
    params: { path: { id: goal.id }, query: { from: "2026-08-01", to: "2026-08-31" } },
  }),
);
const [august] = snapshots;
const netPnl: number | null | undefined = august?.snapshot_data.net_pnl;
check(august?.achieved === true && netPnl === 30, "August has the 30 of the trade");

// A file in, flags as booleans, a file out.
const headers = { "Content-Type": "text/csv" };
const file = { headers, body: csv, bodySerializer: (text: string) => text };
const rehearsed = await data(
  journal.POST("/v1/imports", { ...file, params: { query: { account_id: account.id, dry_run: true } } }),
);
check(rehearsed.import.id === null && rehearsed.import.counts.new === 1, "a dry run writes nothing");
const imported = await data(
  journal.POST("/v1/imports", { ...file, params: { query: { account_id: account.id } } }),
);
check(imported.import.rows[0]?.verdict === "new", "the row is new");
const exported = await journal.GET("/v1/trades/export", {
  params: { query: { spreadsheet: false } },
  parseAs: "text",
});
check(exported.data?.split("\n")[0]?.includes("entry_price") === true, "the export has a header");

// Errors by their code, with typed details.
const refused = await journal.POST("/v1/accounts", { body: { name: "" } });
check(refused.response.status === 400 && refused.data === undefined, "an empty name is refused");
const error = refused.error?.error;
if (error?.code !== "validation_error") throw new Error("not a validation_error");
const reason: string | undefined = error.details.fields?.["name"];
check(reason === "must be 1 to 100 characters", "the error names the member");

// A deletion that is tried out, and then done.
const erase = path(strategy.id).params;
const tried = await journal.DELETE("/v1/strategies/{id}", { params: { ...erase, query: { dry_run: true } } });
check(tried.response.headers.get("X-Trades-Unlinked") === "1", "the trade would lose its strategy");
const erased = await journal.DELETE("/v1/strategies/{id}", { params: erase });
check(erased.response.status === 204, "the strategy is deleted");

console.log("done");
