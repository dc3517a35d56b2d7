import { configure, getAnsiColorFormatter, getStreamSink, jsonLinesFormatter } from "@logtape/logtape";
import type { Config } from "./config.ts";

/**
 * Sends the log to standard output: pretty on a terminal, one JSON object a line elsewhere, unless the configuration says.
 *
 * @param log Level and format.
 */
export async function configureLog(log: Config["log"]): Promise<void> {
  const format = log.format ?? (Deno.stdout.isTerminal() ? "pretty" : "json");
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      for (let written = 0; written < chunk.length;) written += Deno.stdout.writeSync(chunk.subarray(written));
    },
  });
  await configure({
    reset: true,
    sinks: {
      output: getStreamSink(output, {
        formatter: format === "pretty"
          ? getAnsiColorFormatter({ timestamp: "time", category: "·" })
          : jsonLinesFormatter,
      }),
    },
    loggers: [
      { category: "uptuple", sinks: ["output"], lowestLevel: log.level },
      { category: ["logtape", "meta"], sinks: ["output"], lowestLevel: "warning" },
    ],
  });
}
