import { SHARED_CLUSTER_VARIABLE, startTestCluster } from "../tests/support/cluster.ts";
import { ensureTemplate } from "../tests/support/cluster.ts";

/**
 * Runs `deno test` with one database server for all test files, and says at the end how many tests passed and failed.
 * Arguments go to `deno test`: files, `--filter`, `--fail-fast`.
 */
async function main(args: string[]): Promise<number> {
  const cluster = await startTestCluster();
  const report = await Deno.makeTempFile({ prefix: "uptuple-test-report-", suffix: ".xml" });
  try {
    await ensureTemplate(cluster.url);
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "-P=test", `--junit-path=${report}`, ...args],
      env: { [SHARED_CLUSTER_VARIABLE]: cluster.url },
    }).spawn().status;
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
  const tests = junit.match(/<testcase\b/g)?.length ?? 0;
  const failed = junit.match(/<(?:failure|error)\b/g)?.length ?? 0;
  const skipped = junit.match(/<skipped\b/g)?.length ?? 0;
  return { passed: tests - failed - skipped, failed };
}

if (import.meta.main) Deno.exit(await main(Deno.args));
