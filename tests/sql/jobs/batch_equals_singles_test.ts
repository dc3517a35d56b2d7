import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { type Chance, chanceFrom } from "../../support/random.ts";
import {
  addCheckedService,
  ANSWERED,
  assertNoViolations,
  type ClaimedJob,
  completeBatch,
  completion,
  type Observation,
  REFUSED,
  startJob,
} from "../../support/services.ts";

const SERVICES = ["a", "b", "c", "d"];
const INTERVAL = 60;

/** One completion that a runtime sends; `duplicate` and `stale` ones are sent beside the real one of the job. */
interface Sent {
  service: number;
  slot: number;
  observation: Observation;
  token: "own" | "stale";
}

const SECRET_MISSING = { error: { code: "secret.missing", message: "not set" } };
const POISON = { timings: {} };

/** What runtimes send in the course of a history, in groups; each group is one batch here and single calls there. */
function inventHistory(chance: Chance): Sent[][] {
  const windows: Sent[] = [];
  SERVICES.forEach((_name, service) => {
    let slot = 0;
    let trend = ANSWERED;
    for (let window = 0; window < 25; window++) {
      slot += INTERVAL * (chance.percent(8) ? 5 : 1);
      if (chance.percent(30)) trend = chance.pick([ANSWERED, REFUSED, REFUSED]);
      const observation = chance.percent(6) ? SECRET_MISSING : chance.percent(4) ? POISON : trend;
      windows.push({ service, slot, observation, token: "own" });
    }
  });
  const late = (sent: Sent): number => sent.slot + (chance.percent(15) ? chance.below(4) * INTERVAL : 0);
  const ordered = windows.map((sent) => ({ sent, at: late(sent) })).sort((one, other) => one.at - other.at).map((
    { sent },
  ) => sent);

  const groups: Sent[][] = [];
  while (ordered.length > 0) {
    const group = ordered.splice(0, 1 + chance.below(16));
    for (const sent of [...group]) {
      if (chance.percent(5)) group.push({ ...sent, observation: chance.pick([ANSWERED, REFUSED]) });
      if (chance.percent(5)) group.push({ ...sent, token: "stale" });
    }
    groups.push(chance.shuffle(group));
  }
  return groups;
}

/** Sends a history to a database and answers what came back for each completion. */
async function play(sql: TestSql, history: Sent[][], base: number, batched: boolean): Promise<string[][]> {
  const ids = [];
  for (const name of SERVICES) {
    ids.push(await addCheckedService(sql, name, { every: "1 minute", failureThreshold: 3, recoveryThreshold: 2 }));
  }
  await sql`update uptuple.service_state set last_slot = ${base}, last_at = to_timestamp(${base})`;
  await sql`select uptuple.ensure_partitions(${base}, ${base + 86400})`;

  const outcomes: string[][] = [];
  for (const group of history) {
    const jobs = new Map<string, ClaimedJob>();
    for (const { service, slot } of group) {
      const key = `${service} ${slot}`;
      if (!jobs.has(key)) jobs.set(key, await startJob(sql, ids[service] as string, base + slot));
    }
    const entries = group.map((sent, position) => {
      const job = jobs.get(`${sent.service} ${sent.slot}`) as ClaimedJob;
      const token = sent.token === "own" ? job.owner_token : crypto.randomUUID();
      return { position, slot: sent.slot, entry: completion({ ...job, owner_token: token }, sent.observation) };
    });

    if (batched) {
      outcomes.push(await completeBatch(sql, entries.map(({ entry }) => entry)));
      continue;
    }
    const answers: string[] = [];
    for (
      const { position, entry } of [...entries].sort((one, other) =>
        one.slot - other.slot || one.position - other.position
      )
    ) {
      answers[position] = (await completeBatch(sql, [entry]))[0] as string;
    }
    outcomes.push(answers);
  }
  return outcomes;
}

/** All that a history leaves behind, without the times and numbers that differ from one database to the next. */
async function remains(sql: TestSql): Promise<Record<string, unknown[]>> {
  const rows = async (query: Promise<readonly object[]>) => (await query).map((row) => ({ ...row }));
  return {
    states: await rows(sql<object[]>`
      select service_id, status, failure_streak, success_streak, streak_started_at, last_slot, last_at, applied_count,
        incident_id is not null as is_open, checked_status, checked_code, checked_reason
      from uptuple.service_state order by service_id`),
    results: await rows(sql<object[]>`
      select service_id, scheduled_slot, applied_order, status, code, reason, latency_ms
      from uptuple.result where purpose = 'GRID' order by service_id, scheduled_slot`),
    jobs: await rows(sql<object[]>`
      select service_id, scheduled_slot, state, attempts, error from uptuple.job where purpose = 'GRID' order by service_id, scheduled_slot`),
    incidents: await rows(sql<object[]>`
      select service_id, started_at, opened_order, closed_by, code, reason from uptuple.incident order by service_id, opened_order`),
    events: await rows(sql<object[]>`
      select service_id, kind, applied_order, data - '{event_id,incident_id,occurred_at,down_seconds}'::text[] as data
      from uptuple.event order by service_id, applied_order`),
  };
}

for (const seed of [1, 2, 3]) {
  Deno.test(`a batch equals its single calls: random history ${seed} in batches of random shapes, and one by one`, async () => {
    await using oneByOne = await testDatabase();
    await using batched = await testDatabase();
    const history = inventHistory(chanceFrom(seed));
    const base = Math.floor(Date.now() / 1000 / INTERVAL) * INTERVAL - 20_000;

    const [singleOutcomes, batchOutcomes] = [
      await play(oneByOne.owner, history, base, false),
      await play(batched.owner, history, base, true),
    ];

    assert.deepEqual(batchOutcomes, singleOutcomes);
    const expected = await remains(oneByOne.owner);
    assert.deepEqual(await remains(batched.owner), expected);
    assert.ok((expected.incidents?.length ?? 0) > 3, "the history has incidents in it");
    await assertNoViolations(batched.owner);
    await assertNoViolations(oneByOne.owner);
  });
}
