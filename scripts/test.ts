import { ensureTemplate, SHARED_CLUSTER_VARIABLE, startTestCluster } from "../tests/support/cluster.ts";

/** Test files under way at once. More than there are cores: they mostly wait, for processes to start and for rows to appear. */
const DENO_JOBS = Deno.env.get("DENO_JOBS") ?? "4";

/**
 * Runs `deno test` with one database server for all test files, and says at the end how many tests passed and failed.
 *
 * @param args For `deno test`: files, `--filter`, `--fail-fast`.
 * @returns Its exit code.
 */
async function main(args: string[]): Promise<number> {
  // Ctrl-C reaches the tests too. We stay to stop the server after them.
  let interrupted = false;
  Deno.addSignalListener("SIGINT", () => interrupted = true);
  const cluster = await startTestCluster();
  const report = await Deno.makeTempFile({ prefix: "uptuple-report-", suffix: ".xml" });
  try {
    await ensureTemplate(cluster.url);
    if (interrupted) return 130;
    const tests = new Deno.Command(Deno.execPath(), {
      args: ["test", "-P=test", "--parallel", `--junit-path=${report}`, ...args],
      env: { [SHARED_CLUSTER_VARIABLE]: cluster.url, DENO_JOBS },
    }).spawn();
    if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", () => tests.kill("SIGTERM"));
    const { code } = await tests.status;
    const { passed, failed } = countTests(await Deno.readTextFile(report));
    console.log(`${passed} passed, ${failed} failed`);
    return code;
  } finally {
    await Deno.remove(report);
    await cluster.stop();
  }
}

/** Counts from what `deno test` reports of each test. */
function countTests(junit: string): { passed: number; failed: number } {
  const count = (element: RegExp) => junit.match(element)?.length ?? 0;
  const failed = count(/<failure\b/g) + count(/<error\b/g);
  return { passed: count(/<testcase\b/g) - failed - count(/<skipped\b/g), failed };
}

if (import.meta.main) Deno.exit(await main(Deno.args));
