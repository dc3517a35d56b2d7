import assert from "node:assert/strict";
import { openClient, type Sql } from "../../../src/database/client.ts";

/** A node of a plan as `auto_explain` reports it; of its fields, those that the tests look at. */
interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  "Plans"?: PlanNode[];
}

/** A statement that ran inside a function, with its plan. */
interface Explained {
  "Query Text": string;
  "Plan": PlanNode;
}

/** What a call of a function did, over all statements in it. */
export interface Work {
  /** Pages looked at. */
  buffers: number;
  /** Of each index, by its parent's name: how many rows were read through it, those that a filter removed included. */
  rowsByIndex: Map<string, number>;
  /** Tables that were read without an index. */
  scannedTables: Set<string>;
  /** The largest number of rows that any sort took in. */
  largestSort: number;
  /** Nodes that join by hash or merge, which a plan of the hot path does not have. */
  otherJoins: Set<string>;
}

/** A connection whose statements, nested ones included, report their plans. */
export interface ExplainedConnection extends AsyncDisposable {
  sql: Sql;
  /** Runs something and tells what the server did for it. */
  explain(run: (sql: Sql) => Promise<unknown>): Promise<Work>;
}

/** Opens a connection as a superuser, with `auto_explain`, which every PostgreSQL brings. */
export async function explainedConnection(url: string): Promise<ExplainedConnection> {
  const reported: Explained[] = [];
  const sql = openClient(url, {
    maxConnections: 1,
    applicationName: "uptuple plans",
    onNotice({ message }) {
      const json = /^duration: [^{]*plan:\n(\{[\s\S]*\})$/.exec(message ?? "")?.[1];
      if (json !== undefined) reported.push(JSON.parse(json));
    },
  });
  await sql.unsafe(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_analyze = on;
    set auto_explain.log_buffers = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_format = json;
    set client_min_messages = log`);
  // In a transaction a statement's plan is reported when the next one is bound. This one has no plan.
  const reportLast = () => sql.unsafe("show auto_explain.log_format");
  return {
    sql,
    async explain(run) {
      await reportLast();
      reported.length = 0;
      await run(sql);
      await reportLast();
      assert.ok(reported.length > 0, "no plan was reported");
      return summarize(reported);
    },
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  };
}

function summarize(explained: Explained[]): Work {
  const work: Work = {
    buffers: 0,
    rowsByIndex: new Map(),
    scannedTables: new Set(),
    largestSort: 0,
    otherJoins: new Set(),
  };
  for (const { Plan } of explained) visit(Plan, work);
  // The outermost statement is reported last, and its pages include those of all within it.
  const whole = explained.at(-1)?.Plan;
  work.buffers = whole === undefined ? 0 : whole["Shared Hit Blocks"] + whole["Shared Read Blocks"];
  return work;
}

function visit(node: PlanNode, work: Work): void {
  const type = node["Node Type"];
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0);
  const rows = (node["Actual Rows"] + removed) * node["Actual Loops"];
  const index = node["Index Name"];
  if (index !== undefined) {
    const name = parentIndex(index);
    work.rowsByIndex.set(name, (work.rowsByIndex.get(name) ?? 0) + rows);
  }
  if (type === "Seq Scan" && node["Actual Loops"] > 0) {
    work.scannedTables.add(parentTable(node["Relation Name"] ?? "?"));
  }
  if (type === "Hash Join" || type === "Merge Join") work.otherJoins.add(type);
  if (type.includes("Sort")) work.largestSort = Math.max(work.largestSort, rows);
  for (const child of node.Plans ?? []) visit(child, work);
}

/** `job` of `job_20260101`. */
function parentTable(table: string): string {
  return table.replace(/_\d{8}$/, "");
}

/** PostgreSQL names the indexes of partitions after their columns; here they have the names that migrations gave them. */
function parentIndex(index: string): string {
  const names: Record<string, string> = {
    job_region_due_at_id_idx: "job_claim",
    job_service_id_region_scheduled_slot_key: "job_window_key",
    result_service_id_region_scheduled_slot_idx: "result_window_key",
  };
  const name = index.replace(/^(job|result)_\d{8}_/, "$1_");
  return names[name] ?? name;
}

/** As if nobody had ever analysed anything. */
export async function forgetStatistics(sql: Sql): Promise<void> {
  await sql`delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = 'uptuple'::regnamespace)`;
  await sql`
    update pg_class set reltuples = -1, relpages = 0
    where relnamespace = 'uptuple'::regnamespace and relkind in ('r', 'i')`;
}

/** Nothing is analysed behind a test's back, in tables and partitions that are there by now. */
export async function stopAutovacuum(sql: Sql): Promise<void> {
  await sql`
    do $$
    declare
      relation regclass;
    begin
      for relation in
        select oid from pg_class where relnamespace = 'uptuple'::regnamespace and relkind = 'r'
      loop
        execute format('alter table %s set (autovacuum_enabled = off)', relation);
      end loop;
    end
    $$`;
}
