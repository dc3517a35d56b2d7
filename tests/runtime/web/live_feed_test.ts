import assert from "node:assert/strict";
import { liveFeed } from "../../../src/web/live_feed.ts";
import { until } from "../../support/wait.ts";

Deno.test("a thousand viewers cost as many reads as one, and each is told of a change once", async () => {
  const world = fakeWorld();
  const viewers = Array.from({ length: 1000 }, () => join(world, "1"));
  await until("the first look", () => world.marksRead > 0 && world.viewsRead > 0);
  const viewsBefore = world.viewsRead;

  world.set("2");
  await until("everybody is told", () => viewers.every((viewer) => viewer.text().includes("event: parts")));

  assert.equal(world.viewsRead, viewsBefore + 1);
  assert.equal(world.drawn, 1);
  for (const viewer of viewers) {
    assert.deepEqual(viewer.text().match(/^(id|event|data).*$/gm), ["id: 2", "event: parts", "data: 1 to 2"]);
  }
  await Promise.all(viewers.map((viewer) => viewer.leave()));
});

Deno.test("who comes with an older page is told at once to fetch it anew", async () => {
  const world = fakeWorld();
  await using viewer = join(world, "0");

  await until("it is told", () => viewer.text().includes("event:"));

  assert.deepEqual(viewer.text().match(/^(id|event).*$/gm), ["id: 1", "event: refetch"]);
  assert.match(viewer.text(), /^retry: \d+$/m);
});

Deno.test("a change that cannot be told in parts makes everybody fetch the page", async () => {
  const world = fakeWorld({ difference: () => null });
  await using viewer = join(world, "1");
  await until("the first look", () => world.viewsRead > 0);

  world.set("2");
  await until("it is told", () => viewer.text().includes("event:"));

  assert.match(viewer.text(), /id: 2\nevent: refetch/);
});

Deno.test("when the database is lost everybody is told once, and again when it is back with something new", async () => {
  const world = fakeWorld();
  await using viewer = join(world, "1");
  await until("the first look", () => world.viewsRead > 0);

  world.fail(true);
  await until("it is told", () => viewer.text().includes("event: refetch"));
  const looks = world.marksRead;
  await until("there were more looks", () => world.marksRead >= looks + 2);
  assert.equal(viewer.text().match(/refetch/g)?.length, 1);

  world.set("2");
  world.fail(false);
  await until("it is told of what is new", () => /id: 2\n/.test(viewer.text()));
});

Deno.test("nothing is read while nobody looks, and the last one to go leaves no timer behind", async () => {
  const world = fakeWorld({ lookMs: 60_000 });
  const [one, other] = [join(world, "1"), join(world, "1")];
  await until("the first look", () => world.viewsRead > 0);
  await one.leave();
  await other.leave();
  const { marksRead } = world;
  // The next one to come is the first again, and starts the looking anew.
  await using late = join(world, "1");

  await until("it looks again", () => world.marksRead > marksRead);

  assert.equal(world.marksRead, marksRead + 1);
  assert.doesNotMatch(late.text(), /event:/);
});

Deno.test("a viewer who does not read is let go", async () => {
  const world = fakeWorld();
  const stream = world.feed.join("1");
  await using other = join(world, "1");
  await until("the first look", () => world.viewsRead > 0);
  assert.ok(stream);

  // The stream holds what is not read; ask for many changes without reading.
  for (let mark = 2; mark < 80; mark++) {
    const { marksRead } = world;
    world.set(String(mark));
    await world.lookNow();
    assert.ok(world.marksRead > marksRead);
  }

  const text = await new Response(stream).text();
  assert.ok(text.split("event: parts").length - 1 < 70, "it was closed before all was sent");
  await until("the other one has all", () => other.text().includes("id: 79"));
});

/** A database that says what it is told to say, and counts how often it is asked. */
function fakeWorld(options: { lookMs?: number; difference?: (before: string, after: string) => string | null } = {}) {
  let mark = "1";
  let isFailing = false;
  const looks: PromiseWithResolvers<void>[] = [];
  const world = {
    marksRead: 0,
    viewsRead: 0,
    drawn: 0,
    set: (next: string) => void (mark = next),
    fail: (failing: boolean) => void (isFailing = failing),
    /** Comes back after the next look. */
    lookNow: () => {
      const look = Promise.withResolvers<void>();
      looks.push(look);
      return look.promise;
    },
    feed: liveFeed<string>({
      lookMs: options.lookMs ?? 5,
      readMark: () => {
        world.marksRead++;
        if (isFailing) return Promise.reject(new Error("lost"));
        const look = looks.shift();
        if (look !== undefined) setTimeout(look.resolve, 0);
        return Promise.resolve(mark);
      },
      readView: () => {
        world.viewsRead++;
        return Promise.resolve({ mark, view: mark });
      },
      difference: options.difference ?? ((before, after) => {
        world.drawn++;
        return `${before} to ${after}`;
      }),
    }),
  };
  return world;
}

/** A viewer who reads all that comes. */
function join(world: ReturnType<typeof fakeWorld>, mark: string) {
  const reader = world.feed.join(mark)?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);
  let text = "";
  const reading = (async () => {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
    }
  })();
  const leave = async () => {
    await reader.cancel();
    await reading;
  };
  return { text: () => text, leave, [Symbol.asyncDispose]: leave };
}
