import assert from "node:assert/strict";
import { addChannel, answerAll } from "../../support/alerts.ts";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { type Chance, chanceFrom } from "../../support/random.ts";
import {
  addService,
  ANSWERED,
  assertNoViolations,
  complete,
  letTimePass,
  REFUSED,
  startJob,
} from "../../support/services.ts";

const MINUTE = 60;
const THRESHOLD = 2;

interface ModelService {
  id: string;
  name: string;
  group: string;
  failures: number;
  lastSlot: number | null;
  /** Number of its open incident among its own. */
  incident: number | null;
  incidents: number;
  /** What most of its checks see at present. */
  isUp: boolean;
}

/** Maintenance, in the seconds of the history. `covers` names services or one group. */
interface ModelWindow {
  id: string;
  covers: { services: string[] } | { group: string } | "everything";
  since: number;
  until: number;
}

interface ModelNotice {
  service: ModelService;
  kind: "FAILED" | "RECOVERED";
  incident: number;
  heldUntil: number | null;
  sent: boolean;
}

/**
 * What is promised of notices and maintenance, kept beside the database. It shares no idea with the SQL: it follows lists of windows
 * from end to end, and asks of each notice whether it would go now.
 */
class Model {
  windows: ModelWindow[] = [];
  notices: ModelNotice[] = [];

  constructor(readonly services: ModelService[]) {}

  covers({ covers }: ModelWindow, service: ModelService): boolean {
    if (covers === "everything") return true;
    return "group" in covers ? covers.group === service.group : covers.services.includes(service.name);
  }

  /** The end of the maintenance that a service is in, over all that overlaps or follows; null if it is in none. */
  endOf(service: ModelService, at: number): number | null {
    let end = at;
    for (;;) {
      const next = this.windows.find((window) =>
        this.covers(window, service) && window.since <= end && end < window.until
      );
      if (next === undefined) return end === at ? null : end;
      end = next.until;
    }
  }

  check(service: ModelService, slot: number, up: boolean): void {
    const afterGap = service.lastSlot !== null && slot - service.lastSlot > 3 * MINUTE;
    service.lastSlot = slot;
    if (up) {
      service.failures = 0;
      if (service.incident !== null) this.tell(service, "RECOVERED", service.incident, slot);
      service.incident = null;
    } else if (service.incident === null) {
      const excused = this.endOf(service, slot) !== null;
      service.failures = excused ? 0 : afterGap ? 1 : service.failures + 1;
      if (service.failures >= THRESHOLD) {
        service.incident = ++service.incidents;
        this.tell(service, "FAILED", service.incident, slot);
      }
    }
  }

  private tell(service: ModelService, kind: ModelNotice["kind"], incident: number, at: number): void {
    this.notices.push({ service, kind, incident, heldUntil: this.endOf(service, at), sent: false });
  }

  /** Maintenance, or what it covers, has changed. */
  reconsider(now: number): void {
    for (const notice of this.notices) {
      if (!notice.sent && notice.heldUntil !== null && notice.heldUntil > now) {
        notice.heldUntil = this.endOf(notice.service, now) ?? now;
      }
    }
  }

  deliver(now: number): string[] {
    const sent: string[] = [];
    for (const notice of this.notices) {
      const waits = notice.heldUntil !== null && notice.heldUntil > now;
      const isFirst = this.notices.find((other) => other.service === notice.service && !other.sent) === notice;
      if (notice.sent || waits || !isFirst) continue;
      notice.sent = true;
      sent.push(inWords(notice));
    }
    return sent.toSorted();
  }
}

function inWords({ service, kind, incident }: ModelNotice): string {
  return `${service.name} ${kind} ${incident}`;
}

/** The database under a clock that jumps from minute to minute: what is stored moves into the past instead. */
class History {
  private shifted = 0;
  constructor(readonly sql: TestSql, readonly model: Model, readonly chance: Chance) {}

  async now(): Promise<number> {
    const [row] = await this.sql`select extract(epoch from clock_timestamp())::float8 as second`;
    return row.second + this.shifted;
  }

  /** Goes on to the beginning of a later minute, so that nothing happens near the bounds of windows, which are at half minutes. */
  async jump(minutes: number): Promise<number> {
    const now = await this.now();
    const seconds = Math.ceil((Math.floor(now / MINUTE) + minutes) * MINUTE - now);
    await letTimePass(this.sql, seconds);
    this.shifted += seconds;
    return await this.now();
  }

  async check(service: ModelService, now: number): Promise<void> {
    if (this.chance.percent(30)) service.isUp = !service.isUp;
    const up = service.isUp;
    const slot = Math.floor(now);
    const job = await startJob(this.sql, service.id, slot - this.shifted);
    assert.equal(await complete(this.sql, job, up ? ANSWERED : REFUSED), true);
    this.model.check(service, slot, up);
  }

  async plan(now: number): Promise<void> {
    // Mostly where something is down, so that notices come in it.
    const down = this.model.services.filter(({ incident }) => incident !== null);
    const service = this.chance.pick(down.length > 0 && this.chance.percent(80) ? down : this.model.services);
    const covers = this.chance.pick<ModelWindow["covers"]>([
      "everything",
      { group: service.group },
      { services: [service.name] },
      { services: [service.name] },
    ]);
    const atOnce = this.chance.percent(65);
    const minute = Math.floor(now / MINUTE) * MINUTE;
    const since = minute + this.chance.below(8) * MINUTE + 30;
    const until = (atOnce ? minute + 30 : since) + (1 + this.chance.below(10)) * MINUTE;
    const [row] = await this.sql`
      select uptuple.plan_maintenance(
        services => ${typeof covers === "object" && "services" in covers ? covers.services : []},
        groups => ${typeof covers === "object" && "group" in covers ? [covers.group] : []},
        everything => ${covers === "everything"},
        starts_at => ${atOnce ? null : new Date((since - this.shifted) * 1000)}::timestamptz,
        ends_at => ${new Date((until - this.shifted) * 1000)}::timestamptz
      ) as id`;
    this.model.windows.push({ id: row.id, covers, since: atOnce ? now : since, until });
    this.model.reconsider(now);
  }

  async stop(now: number): Promise<void> {
    const running = this.model.windows.filter(({ since, until }) => since <= now && now < until);
    const ahead = this.model.windows.filter(({ since }) => since > now);
    if (running.length > 0 && this.chance.percent(60)) {
      const window = this.chance.pick(running);
      await (this.chance.percent(50)
        ? this.sql`select uptuple.end_maintenance(${window.id})`
        : this.sql`select uptuple.cancel_maintenance(${window.id})`);
      window.until = now;
    } else if (ahead.length > 0) {
      const window = this.chance.pick(ahead);
      await this.sql`select uptuple.cancel_maintenance(${window.id})`;
      this.model.windows = this.model.windows.filter((each) => each !== window);
    }
    this.model.windows = this.model.windows.filter(({ since, until }) => since < until);
    this.model.reconsider(now);
  }

  async move(now: number): Promise<void> {
    const alive = this.model.windows.filter(({ until }) => until > now);
    if (alive.length === 0) return;
    const window = this.chance.pick(alive);
    const until = Math.floor(Math.max(now, window.since) / MINUTE) * MINUTE + 90 + this.chance.below(10) * MINUTE;
    await this.sql`
      select uptuple.change_maintenance(${window.id}, ends_at => ${new Date(
      (until - this.shifted) * 1000,
    )}::timestamptz)`;
    window.until = until;
    this.model.reconsider(now);
  }

  async regroup(now: number): Promise<void> {
    const service = this.chance.pick(this.model.services);
    service.group = this.chance.pick(["web", "mail"]);
    await this.sql`select uptuple.update_service(${service.name}, group_name => ${service.group})`;
    this.model.reconsider(now);
  }

  async deliver(now: number): Promise<string[]> {
    const expected = [];
    for (let sent = this.model.deliver(now); sent.length > 0; sent = this.model.deliver(now)) expected.push(...sent);
    const posted = await answerAll(this.sql, { status: 200 });
    const told = await this.sql<{ line: string; event_id: string }[]>`
      select event.event_id, concat_ws(' ', service.name, upper(split_part(event.kind, '.', 2)),
        (select count(*) from uptuple.incident elder where elder.service_id = event.service_id and elder.id <= event.incident_id)) as line
      from uptuple.event join uptuple.service on service.id = event.service_id`;
    const lines = new Map(told.map(({ event_id, line }) => [event_id, line]));
    assert.deepEqual(posted.map(({ event_id }) => lines.get(event_id)).toSorted(), expected.toSorted());
    return expected;
  }
}

for (const seed of [21, 22]) {
  Deno.test(`with maintenance here and there, notices are as the rules say at every step (seed ${seed})`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    const chance = chanceFrom(seed);
    const services: ModelService[] = [];
    for (const [name, group] of [["shop", "web"], ["blog", "web"], ["post", "mail"]] as const) {
      const id = await addService(owner, name, { every: "1 minute", failureThreshold: THRESHOLD });
      await owner`select uptuple.update_service(${name}, group_name => ${group})`;
      services.push({ id, name, group, failures: 0, lastSlot: null, incident: null, incidents: 0, isUp: true });
    }
    await owner`delete from uptuple.job`;
    await addChannel(owner, "ops");
    const model = new Model(services);
    const history = new History(owner, model, chance);
    let held = 0;

    for (let step = 0; step < 90; step++) {
      const now = await history.jump(chance.pick([1, 1, 1, 2, 5]));
      for (const service of services) if (chance.percent(80)) await history.check(service, now);
      const dice = chance.below(100);
      if (dice < 18) await history.plan(now);
      else if (dice < 28) await history.stop(now);
      else if (dice < 36) await history.move(now);
      else if (dice < 44) await history.regroup(now);
      held += model.notices.filter(({ sent, heldUntil }) => !sent && heldUntil !== null && heldUntil > now).length;
      if (chance.percent(70)) await history.deliver(now);
    }
    const last = await history.jump(60);
    await history.deliver(last);

    const events = await owner<{ line: string }[]>`
      select concat_ws(' ', service.name, upper(split_part(event.kind, '.', 2)),
        (select count(*) from uptuple.incident elder where elder.service_id = event.service_id and elder.id <= event.incident_id)) as line
      from uptuple.event join uptuple.service on service.id = event.service_id
      order by service.id, event.id`;
    const expected = services.flatMap((service) =>
      model.notices.filter((notice) => notice.service === service).map(inWords)
    );
    assert.deepEqual(events.map(({ line }) => line), expected);
    assert.ok(model.notices.length > 15, `only ${model.notices.length} notices`);
    assert.ok(held > 5, `only ${held} notices were held`);
    assert.ok(model.notices.every(({ sent }) => sent));
    await assertNoViolations(owner);
  });
}
