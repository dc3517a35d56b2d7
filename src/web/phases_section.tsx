import type { JSX } from "hono/jsx/jsx-runtime";
import { countInWords, latencyInWords } from "./in_words.ts";
import { Clock, type Moment } from "./moment.tsx";
import type { Check, CheckPhases, ServicePage } from "./service_page.ts";

const PHASES = [
  ["dns_ms", "DNS"],
  ["connect_ms", "Connect"],
  ["tls_ms", "TLS"],
  ["first_byte_ms", "First byte"],
] as const;

/** Where the time of the last check went, beside the medians of those before it. */
export function PhasesSection(
  { check, medians, now }: { check: Check; medians: ServicePage["medians"]; now: Moment },
): JSX.Element | null {
  const isCompared = medians.checks > 0;
  const rows = PHASES.filter(([phase]) => check[phase] !== null || medians[phase] !== null);
  if (check.latency_ms === null && rows.length === 0) return null;
  return (
    <section aria-labelledby="phases" data-key="phases">
      <h2 id="phases">Where the time goes</h2>
      <div class="card padded">
        <PhaseBar phases={check} />
        <table class="phases">
          <thead>
            <tr>
              <th scope="col">Phase</th>
              <th scope="col">
                Last check, <Clock at={check.recorded_at} now={now} />
              </th>
              {isCompared && <th scope="col">Median of {countInWords(medians.checks, "check", "checks")}</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map(([phase, word]) => (
              <tr>
                <th scope="row">
                  <span class={`swatch swatch-${phase}`}></span>
                  {word}
                </th>
                <td>{inWords(check[phase])}</td>
                {isCompared && <td>{inWords(medians[phase])}</td>}
              </tr>
            ))}
            <tr class="total">
              <th scope="row">All</th>
              <td>{inWords(check.latency_ms)}</td>
              {isCompared && <td>{inWords(medians.latency_ms)}</td>}
            </tr>
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The phases one after another; what is left of the whole is the transfer. */
function PhaseBar({ phases }: { phases: CheckPhases }): JSX.Element | null {
  const whole = phases.latency_ms ?? 0;
  if (whole <= 0) return null;
  let start = 0;
  return (
    <svg class="phase-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect class="phase-rest" x="0" y="0" width="100" height="1" />
      {PHASES.map(([phase]) => {
        const width = Math.min(100 - start, (phases[phase] ?? 0) / whole * 100);
        const bar = <rect class={`phase-${phase}`} x={start.toFixed(2)} y="0" width={width.toFixed(2)} height="1" />;
        start += width;
        return bar;
      })}
    </svg>
  );
}

function inWords(ms: number | null): string {
  return ms === null ? "–" : latencyInWords(ms);
}
