import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { type Chance, chanceFrom } from "../../support/random.ts";
import {
  ANSWERED,
  assertNoViolations,
  type ClaimedJob,
  completeBatch,
  completion,
  type Observation,
  REFUSED,
  startJob,
} from "../../support/services.ts";

type Status = "UP" | "DEGRADED" | "DOWN" | "INCONCLUSIVE";
type Purpose = "GRID" | "REQUEST" | "CONFIRM" | "MANUAL";

const INTERVAL = 60;
const OBSERVED: Partial<Record<Status, Observation>> = {
  UP: ANSWERED,
  DOWN: REFUSED,
  INCONCLUSIVE: { error: { code: "secret.missing", message: "not set" } },
};

/** What the rules say of one service, kept beside the database and compared with it after each step. */
interface Model {
  enabled: boolean;
  failureThreshold: number;
  recoveryThreshold: number;
  status: "UP" | "DEGRADED" | "DOWN" | "UNKNOWN";
  failures: number;
  successes: number;
  lastSlot: number | null;
  /** Seconds; of a window its start, of a record by hand its arrival. */
  lastAt: number | null;
  applied: number;
  incidents: ("open" | "recovered" | "withdrawn")[];
  notices: string[];
}

function newModel(): Model {
  return {
    enabled: true,
    failureThreshold: 3,
    recoveryThreshold: 1,
    status: "UNKNOWN",
    failures: 0,
    successes: 0,
    lastSlot: null,
    lastAt: null,
    applied: 0,
    incidents: [],
    notices: [],
  };
}

const isOpen = (model: Model): boolean => model.incidents.at(-1) === "open";

/** One result arrives. Answers whether it moved the state. */
function arrive(model: Model, status: Status, purpose: Purpose, slot: number, now: number): boolean {
  if (!model.enabled || status === "INCONCLUSIVE") return false;
  if (purpose === "REQUEST" && status === "DOWN") return false;
  if (purpose !== "MANUAL" && model.lastSlot !== null && slot <= model.lastSlot) return false;

  const at = purpose === "MANUAL" ? now : slot;
  const afterGap = model.lastAt !== null && at - model.lastAt > 3 * INTERVAL;
  if (status === "DOWN") {
    model.successes = 0;
    model.failures = Math.min(afterGap ? 1 : model.failures + 1, model.failureThreshold);
    if (!isOpen(model) && model.failures >= model.failureThreshold) {
      model.incidents.push("open");
      model.notices.push("service.failed");
      model.status = "DOWN";
    }
  } else {
    model.failures = 0;
    model.successes = Math.min(afterGap ? 1 : model.successes + 1, model.recoveryThreshold);
    if (isOpen(model) && model.successes >= model.recoveryThreshold) {
      model.incidents[model.incidents.length - 1] = "recovered";
      model.notices.push("service.recovered");
    }
    if (!isOpen(model)) model.status = status;
  }
  if (purpose !== "MANUAL") model.lastSlot = slot;
  model.lastAt = at;
  model.applied++;
  return true;
}

function disable(model: Model): void {
  if (!model.enabled) return;
  if (isOpen(model)) {
    model.incidents[model.incidents.length - 1] = "withdrawn";
    model.notices.push("service.recovered");
  }
  Object.assign(model, { enabled: false, status: "UNKNOWN", failures: 0, successes: 0 });
}

function enable(model: Model): void {
  if (model.enabled) return;
  Object.assign(model, { enabled: true, status: "UNKNOWN", failures: 0, successes: 0 });
}

/** A service of the history, its model, and the jobs of it that run. */
interface Watched {
  id: string;
  name: string;
  model: Model;
  nextSlot: number;
  /** What most of its checks see at present. */
  trend: "UP" | "DOWN";
  running: { job: ClaimedJob; slot: number; purpose: Purpose }[];
  completed: ClaimedJob[];
}

/** Starts a window, or a check outside the grid, some time after the last one. */
async function start(sql: TestSql, chance: Chance, service: Watched): Promise<void> {
  service.nextSlot += chance.percent(8) ? 5 * INTERVAL : INTERVAL;
  const purpose = chance.pick<Purpose>(["GRID", "GRID", "GRID", "CONFIRM", "REQUEST"]);
  const slot = service.nextSlot - (purpose === "GRID" ? 0 : 7);
  service.running.push({ job: await startJob(sql, service.id, slot, purpose), slot, purpose });
}

/** Completes some of the running jobs of all services in one batch, with some that were completed before among them. */
async function completeSome(sql: TestSql, chance: Chance, services: Watched[]): Promise<void> {
  const sent: { entry: unknown; expected: string }[] = [];
  const arrivals: { service: Watched; slot: number; purpose: Purpose; status: Status }[] = [];
  for (const service of services) {
    const order = chance.percent(25) ? chance.shuffle(service.running) : service.running;
    for (const { job, slot, purpose } of order.slice(0, chance.below(4))) {
      if (chance.percent(25)) service.trend = service.trend === "UP" ? "DOWN" : "UP";
      const status = chance.percent(8) ? "INCONCLUSIVE" : service.trend;
      sent.push({ entry: completion(job, OBSERVED[status] as Observation), expected: "ACCEPTED" });
      arrivals.push({ service, slot, purpose, status });
      service.running = service.running.filter((each) => each.job !== job);
      service.completed.push(job);
    }
    if (service.completed.length > 0 && chance.percent(20)) {
      sent.push({ entry: completion(chance.pick(service.completed), REFUSED), expected: "DUPLICATE" });
    }
  }

  const batch = chance.shuffle(sent);
  const known = new Set(
    batch.filter(({ expected }) => expected === "ACCEPTED").map(({ entry }) => (entry as ClaimedJob).job_id),
  );
  const once = batch.filter(({ entry, expected }) =>
    expected === "ACCEPTED" || !known.has((entry as ClaimedJob).job_id)
  );
  assert.deepEqual(await completeBatch(sql, once.map(({ entry }) => entry)), once.map(({ expected }) => expected));
  for (const { service, slot, purpose, status } of arrivals.sort((one, other) => one.slot - other.slot)) {
    arrive(service.model, status, purpose, slot, Date.now() / 1000);
  }
}

async function recordByHand(sql: TestSql, chance: Chance, { name, model }: Watched): Promise<void> {
  const status = chance.pick<Status>(["UP", "DEGRADED", "DOWN", "DOWN", "INCONCLUSIVE"]);
  const [answer] = await sql`select * from uptuple.record_health(${name}, ${status})`;
  const applied = arrive(model, status, "MANUAL", 0, Date.now() / 1000);
  assert.deepEqual([answer.applied, answer.state], [applied, model.status]);
}

async function configure(sql: TestSql, chance: Chance, { name, model }: Watched): Promise<void> {
  if (chance.percent(60)) {
    model.failureThreshold = 1 + chance.below(4);
    model.recoveryThreshold = 1 + chance.below(3);
    await sql`
      select uptuple.update_service(
        ${name}, failure_threshold => ${model.failureThreshold}, recovery_threshold => ${model.recoveryThreshold}
      )`;
  } else if (model.enabled) {
    await sql`select uptuple.disable_service(${name})`;
    disable(model);
  } else {
    await sql`select uptuple.enable_service(${name})`;
    enable(model);
  }
}

async function assertAsModelled(sql: TestSql, services: Watched[], step: number): Promise<void> {
  const states = await sql<Record<string, unknown>[]>`
    select service.name, service.enabled, state.status, state.failure_streak, state.success_streak, state.applied_count::integer,
      state.last_slot, state.incident_id is not null as is_open,
      array(select coalesce(closed_by, 'open') from uptuple.incident where incident.service_id = service.id order by id) as incidents,
      array(
        select kind from uptuple.event
        where event.service_id = service.id and kind in ('service.failed', 'service.recovered') order by id
      ) as notices
    from uptuple.service join uptuple.service_state state on state.service_id = service.id
    order by service.id`;
  const expected = services.map(({ name, model }) => ({
    name,
    enabled: model.enabled,
    status: model.status,
    failure_streak: model.failures,
    success_streak: model.successes,
    applied_count: model.applied,
    last_slot: model.lastSlot === null ? null : String(model.lastSlot),
    is_open: isOpen(model),
    incidents: model.incidents,
    notices: model.notices,
  }));
  assert.deepEqual(states.map((state) => ({ ...state })), expected, `after step ${step}`);
}

for (const seed of [11, 12, 14]) {
  Deno.test(`a random history ends as the rules say at every step, and breaks no promise (seed ${seed})`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    const chance = chanceFrom(seed);
    const base = Math.floor(Date.now() / 1000) - 80_000;
    await owner`select uptuple.ensure_partitions(${base}, ${base + 86400})`;
    const services: Watched[] = [];
    for (const name of ["a", "b"]) {
      const [added] = await owner`
        select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1/', every => '1 minute', confirm_every => '1 day') as id`;
      await owner`select uptuple.set_damping(${name}, false)`;
      services.push({ id: added.id, name, model: newModel(), nextSlot: base, trend: "UP", running: [], completed: [] });
    }

    for (let step = 0; step < 150; step++) {
      const service = chance.pick(services);
      const dice = chance.below(100);
      if (dice < 55) await start(owner, chance, service);
      else if (dice < 85) await completeSome(owner, chance, services);
      else if (dice < 93) await recordByHand(owner, chance, service);
      else await configure(owner, chance, service);
      await assertAsModelled(owner, services, step);
    }

    assert.ok(services.flatMap(({ model }) => model.incidents).length > 2, "the history has incidents in it");
    await assertNoViolations(owner);
  });
}
