import assert from "node:assert/strict";
import { createShift } from "../../src/shift.ts";

Deno.test("a shift lasts while it is extended, and once it has ended it is over for good", () => {
  const shift = createShift();
  assert.equal(shift.extend(60_000), true);
  assert.equal(shift.over, false);
  assert.equal(shift.extend(0), true);
  assert.equal(shift.over, true);
  // One loop may have gone home by now: if the others stayed, work would be claimed and none made.
  assert.equal(shift.extend(60_000), false);
  assert.equal(shift.over, true);
});

Deno.test("a shift that was stopped is over at once, and tells those who sleep", () => {
  const shift = createShift();
  shift.extend(60_000);
  shift.stop();
  assert.equal(shift.over, true);
  assert.equal(shift.stopped.aborted, true);
  assert.equal(shift.extend(60_000), false);
});
