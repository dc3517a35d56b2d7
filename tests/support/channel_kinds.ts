import type { TestSql } from "./database.ts";

/** A channel of each kind, as a person would add it. */
export const CHANNELS: Record<string, { url?: string; options?: Record<string, unknown> }> = {
  webhook: { url: "https://receiver.example/hook" },
  slack: { url: "https://hooks.slack.com/services/${UPTUPLE_SECRET_SLACK}", options: { mention: "<!channel>" } },
  discord: { url: "https://discord.com/api/webhooks/${UPTUPLE_SECRET_DISCORD}", options: { mention: "<@&4711>" } },
  teams: { url: "https://example.logic.azure.com/workflows/1?sig=${UPTUPLE_SECRET_TEAMS}" },
  mattermost: { url: "https://chat.example/hooks/${UPTUPLE_SECRET_MATTERMOST}", options: { mention: "@channel" } },
  telegram: { options: { token: "${UPTUPLE_SECRET_TELEGRAM}", chat_id: "-1001234", message_thread_id: 7 } },
  ntfy: { options: { topic: "our-alerts", token: "${UPTUPLE_SECRET_NTFY}" } },
  gotify: { url: "https://push.example/gotify", options: { token: "${UPTUPLE_SECRET_GOTIFY}" } },
  pushover: { options: { token: "${UPTUPLE_SECRET_PUSHOVER_TOKEN}", user: "${UPTUPLE_SECRET_PUSHOVER_USER}" } },
  pagerduty: { options: { routing_key: "${UPTUPLE_SECRET_PAGERDUTY}" } },
  opsgenie: { options: { api_key: "${UPTUPLE_SECRET_OPSGENIE}" } },
  alertmanager: { url: "https://receiver.example/alerts", options: { receiver: "uptuple" } },
  email: {
    url: "smtp://mail.example",
    options: {
      from: "uptuple@example.com",
      to: ["ops@example.com", "boss@example.com"],
      user: "uptuple",
      password: "${UPTUPLE_SECRET_MAIL}",
    },
  },
};

/** Adds a channel of a kind, named as the kind. */
export async function addChannelOfKind(
  sql: TestSql,
  kind: string,
  { url = CHANNELS[kind]?.url, options = CHANNELS[kind]?.options ?? {} }: {
    url?: string | undefined;
    options?: Record<string, unknown> | undefined;
  } = {},
): Promise<void> {
  await sql`
    select uptuple.add_channel(name => ${kind}, url => ${url ?? null}, kind => ${kind}, options => ${
    sql.json(options as never)
  })`;
}

/** What may be set of an event. */
export interface SampleEvent {
  kind: string;
  severity?: "info" | "warning" | "critical";
  incident?: number | null;
  data?: Record<string, unknown>;
}

/** The request with which a channel of that name is told of an event that is always the same. */
export async function rendered(
  sql: TestSql,
  channel: string,
  { kind, severity = "critical", incident = 42, data = {} }: SampleEvent,
  // deno-lint-ignore no-explicit-any -- each kind has a shape of its own
): Promise<any> {
  const event = {
    id: 7,
    event_id: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
    kind,
    service_id: 3,
    incident_id: incident,
    dedupe_key: "sample",
    occurred_at: "2026-01-02T03:04:05.678Z",
    applied_order: null,
    data: { event_id: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", kind, severity, ...data },
    created_at: "2026-01-02T03:04:05.678Z",
    severity,
  };
  const [row] = await sql`
    select uptuple.notice_request(jsonb_populate_record(null::uptuple.event, ${
    sql.json(event as never)
  }), channel) as request
    from uptuple.channel where channel.name = ${channel}`;
  return row.request;
}

/** Texts that somebody else wrote, and that break what is not escaped. */
export const HOSTILE =
  "\"'\\ </b>&amp;<script>alert(1)</script> <!channel> @everyone @here *b* _i_ `c` [x](http://evil.example) " +
  "${UPTUPLE_SECRET_PAGERDUTY} %0d%0a caf\u00e9 \ud83d\udd25 \u202egnp";
