// The resources of the API, under the names of journal_api/openapi/openapi.json.
import type { components } from "./api.d.ts";

type Schemas = components["schemas"];

declare global {
  type Account = Schemas["AccountListItem"];
  type ApiKey = Schemas["ApiKey"];
  type BestDayStanding = Schemas["BestDayStanding"];
  type Cash = Schemas["Cash"];
  type Checkpoint = Schemas["Checkpoint"];
  type CheckpointListItem = Schemas["CheckpointListItem"];
  type CashFlow = Schemas["CashFlow"];
  type CopyGroup = Schemas["CopyGroupListItem"];
  type Goal = Schemas["GoalListItem"];
  type GoalPeriod = Schemas["GoalPeriod"];
  type ImportReport = Schemas["ImportReport"];
  type DayListItem = Schemas["DayListItem"];
  type JournalDay = Schemas["JournalDay"];
  type Me = Schemas["Me"];
  type Pace = Schemas["Pace"];
  type Metric = Schemas["Metric"];
  type Picture = Schemas["Picture"];
  type Report = Schemas["Report"];
  type ReportGroup = Schemas["ReportGroup"];
  type DayGroup = ReportGroup & { key: string };
  type Snapshot = Schemas["Snapshot"];
  type SearchResult = Schemas["SearchResult"];
  type SnapshotData = Schemas["SnapshotData"];
  type RuleStanding = Schemas["RuleStanding"];
  type Standing = Schemas["Standing"];
  type Strategy = Schemas["Strategy"];
  type StrategyListItem = Schemas["StrategyListItem"];
  type Tag = Schemas["Tag"];
  type TagCategory = Schemas["TagCategory"];
  type TargetStanding = Schemas["TargetStanding"];
  type Trade = Schemas["Trade"];
  type TradeListItem = Schemas["TradeListItem"];

  /** Saves the members of the open trade or day that the function returns. */
  type Save = (changeOf: (now: any) => object) => void;

  /** What every view is given. */
  type Context = {
    name: string;
    id: string;
    query: URLSearchParams;
    selection: { account_id?: number; copy_group_id?: number };
    me: Me;
    meEtag: string;
    accounts: Account[];
    copyGroups: CopyGroup[];
    go: (name: string, query?: object) => void;
    redraw: () => Promise<void>;
    signOut: () => Promise<void>;
  };
}
