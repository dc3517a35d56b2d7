/**
 * A process that runs tasks and nothing else, for tests that need several, or one to kill.
 *
 * Arguments: the database's URL, the worker's name, and by how many ms its clock is wrong. Stops on SIGTERM.
 */
import { connect } from "../../src/database/connect.ts";
import { createShift } from "../../src/shift.ts";
import { createTaskLoop } from "../../src/tasks/task_loop.ts";

const [url, worker, skewMs] = Deno.args as [string, string, string];

const rightNow = Date.now;
const wrongNow = (): number => rightNow() + Number(skewMs);
globalThis.Date = new Proxy(Date, {
  construct: (target, parts, made) => Reflect.construct(target, parts.length === 0 ? [wrongNow()] : parts, made),
  get: (target, key) => key === "now" ? wrongNow : Reflect.get(target, key),
});

const database = connect({ url, applicationName: `uptuple test ${worker}` });
const shift = createShift();
shift.extend(10 * 60_000);
const tasks = createTaskLoop({ database, url, worker, tasksFile: null, variable: () => undefined });
await database.listen("uptuple_tasks", tasks.wake, tasks.wake);
Deno.addSignalListener("SIGTERM", () => shift.stop());
await tasks.run(shift);
await database.close();
