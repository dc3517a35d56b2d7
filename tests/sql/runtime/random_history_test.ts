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
  REFUSED,
  startJob,
} from "../../support/services.ts";
import { reportWorker } from "../../support/workers.ts";

const INTERVAL = 60;
const SEES_NOTHING = { unanswered: 3, canary: "dns" };

/** What the rules say of a runtime. */
interface Worker {
  name: string;
  lives: boolean;
  trusted: boolean;
  quarantines: number;
  agreements: number;
  told: string[];
}

/** What the rules say of a service, and its jobs that run. */
interface Service {
  id: string;
  threshold: number;
  failures: number;
  /** Who said DOWN in the streak, the first two. */
  failing: string[];
  status: "UNKNOWN" | "UP" | "DOWN";
  lastSlot: number;
  nextSlot: number;
  trend: "UP" | "DOWN";
  notices: string[];
  running: { job: ClaimedJob; slot: number; worker: Worker }[];
}

/** A result arrives that is believed. */
function arrive(service: Service, isUp: boolean, slot: number, by: Worker, workers: Worker[]): void {
  if (slot <= service.lastSlot) return;
  // While runtimes are in quarantine nothing is applied, and a streak that is too old begins anew.
  if (service.lastSlot > 0 && slot - service.lastSlot > 3 * INTERVAL) {
    Object.assign(service, { failures: 0, failing: [] });
  }
  service.lastSlot = slot;
  if (isUp) {
    Object.assign(service, { failures: 0, failing: [] });
    if (service.status === "DOWN") service.notices.push("service.recovered");
    service.status = "UP";
    return;
  }
  const hasWaited = service.failures >= service.threshold;
  if (service.failures === 0) service.failing = [by.name];
  else if (!service.failing.includes(by.name) && service.failing.length < 2) service.failing.push(by.name);
  service.failures = Math.min(service.failures + 1, service.threshold);
  if (service.status === "DOWN" || service.failures < service.threshold) return;
  const hasColleague = workers.some((other) => other !== by && other.lives && other.trusted);
  if (hasWaited || service.failing.length > 1 || !hasColleague) {
    service.status = "DOWN";
    service.notices.push("service.failed");
  }
}

/** What a runtime in quarantine has seen: three UPs for each agreement that its canary would take. */
function weigh(worker: Worker, seen: boolean[]): void {
  worker.agreements = seen.includes(false) ? 0 : worker.agreements + seen.length;
  if (worker.agreements >= 3 * 2 ** (worker.quarantines - 1)) trust(worker);
}

function trust(worker: Worker): void {
  Object.assign(worker, { trusted: true, agreements: 0 });
  worker.told.push("worker.trusted");
}

/** Completes some of the running jobs of all services in one batch, of all workers. */
async function completeSome(sql: TestSql, chance: Chance, services: Service[], workers: Worker[]): Promise<void> {
  const done = services.flatMap((service) => {
    if (chance.percent(30)) service.trend = service.trend === "UP" ? "DOWN" : "UP";
    const count = chance.below(3);
    return service.running.splice(0, count).map((each) => ({ ...each, service, isUp: service.trend === "UP" }));
  });
  const batch = chance.shuffle(done).map(({ job, isUp }) => completion(job, isUp ? ANSWERED : REFUSED));
  assert.deepEqual(await completeBatch(sql, batch), batch.map(() => "ACCEPTED"));

  const blind = new Set(workers.filter(({ trusted }) => !trusted));
  for (const worker of blind) {
    const seen = done.filter((each) => each.worker === worker).map(({ isUp }) => isUp);
    if (seen.length > 0) weigh(worker, seen);
  }
  for (const { service, isUp, slot, worker } of done.toSorted((one, other) => one.slot - other.slot)) {
    if (!blind.has(worker)) arrive(service, isUp, slot, worker, workers);
  }
}

/** A worker stops, starts, goes blind, or its canary answers. */
async function turn(sql: TestSql, chance: Chance, worker: Worker): Promise<void> {
  const dice = chance.below(4);
  if (dice === 0 && worker.lives) {
    await sql`select uptuple.retire_worker(${worker.name})`;
    worker.lives = false;
    return;
  }
  worker.lives = true;
  if (dice === 1 && worker.trusted) {
    await reportWorker(sql, worker.name, SEES_NOTHING);
    Object.assign(worker, { trusted: false, agreements: 0, quarantines: worker.quarantines + 1 });
    worker.told.push("worker.quarantined");
  } else if (dice === 2 && !worker.trusted) {
    await reportWorker(sql, worker.name, { unanswered: 0, canary: 200 });
    worker.agreements++;
    if (worker.agreements >= 2 ** (worker.quarantines - 1)) trust(worker);
  } else await reportWorker(sql, worker.name, { unanswered: 0 });
}

async function assertAsModelled(sql: TestSql, services: Service[], workers: Worker[], step: number): Promise<void> {
  const states = await sql<Record<string, unknown>[]>`
    select state.service_id as id, state.status, state.failure_streak as failures,
      case when state.failure_streak > 0 then state.failing_workers else '{}' end as failing,
      array(select kind from uptuple.event where event.service_id = state.service_id order by id) as notices
    from uptuple.service_state state order by state.service_id`;
  assert.deepEqual(
    states.map((state) => ({ ...state })),
    services.map(({ id, status, failures, failing, notices }) => ({ id, status, failures, failing, notices })),
    `services after step ${step}`,
  );
  const known = await sql<Record<string, unknown>[]>`
    select name, quarantined_at is null as trusted, agreements,
      array(select kind from uptuple.event where event.data ->> 'worker' = worker.name order by id) as told
    from uptuple.worker order by name`;
  assert.deepEqual(
    known.map((worker) => ({ ...worker })),
    workers.map(({ name, trusted, agreements, told }) => ({ name, trusted, agreements, told })),
    `runtimes after step ${step}`,
  );
}

for (const seed of [3, 4, 5]) {
  Deno.test(`a random history of three runtimes ends as the rules say at every step (seed ${seed})`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    const chance = chanceFrom(seed);
    const base = Math.floor(Date.now() / 1000) - 80_000;
    await owner`select uptuple.ensure_partitions(${base}, ${base + 86400})`;
    const services: Service[] = [];
    for (const [name, threshold] of [["a", 1], ["b", 3]] as const) {
      const [added] = await owner`
        select uptuple.add_service(
          name => ${name}, url => 'http://127.0.0.1/', every => '1 minute', confirm_every => '1 day', failure_threshold => ${threshold}
        ) as id`;
      // Histories flip more often than services do, and the model knows nothing of damping.
      await owner`select uptuple.set_damping(${name}, false)`;
      services.push({
        id: added.id,
        threshold,
        failures: 0,
        failing: [],
        status: "UNKNOWN",
        lastSlot: 0,
        nextSlot: base,
        trend: "UP",
        notices: [],
        running: [],
      });
    }
    const workers: Worker[] = ["one", "three", "two"].map((name) => (
      { name, lives: true, trusted: true, quarantines: 0, agreements: 0, told: [] }
    ));
    for (const { name } of workers) await reportWorker(owner, name);

    for (let step = 0; step < 200; step++) {
      const dice = chance.below(100);
      if (dice < 55) {
        const service = chance.pick(services);
        const worker = chance.pick(workers);
        service.nextSlot += INTERVAL;
        const job = await startJob(owner, service.id, service.nextSlot);
        await owner`update uptuple.job set worker = ${worker.name} where id = ${job.job_id}`;
        service.running.push({ job, slot: service.nextSlot, worker });
      } else if (dice < 85) await completeSome(owner, chance, services, workers);
      else await turn(owner, chance, chance.pick(workers));
      await assertAsModelled(owner, services, workers, step);
    }

    assert.ok(services.flatMap(({ notices }) => notices).length > 4, "the history has incidents in it");
    assert.ok(workers.flatMap(({ told }) => told).length > 2, "and quarantines");
    await assertNoViolations(owner);
  });
}
