import { type RegisteredMetric, unitOf } from '@plinth/kernel';

/** `docs/METRICS.md`: every metric of a server with all services, made from the metrics themselves. */
export function metricsPage(registered: readonly RegisteredMetric[]): string {
  const parts = new Map<string, string[]>();
  const sorted = [...registered].sort((a, b) => (a.metric.name < b.metric.name ? -1 : 1));
  for (const one of sorted) parts.set(one.part, [...(parts.get(one.part) ?? []), row(one)]);
  // The server itself first: its numbers are there whatever services run.
  const names = [...parts.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const sections = names.map((name) =>
    [`## ${name}`, '', HEAD, RULE, ...(parts.get(name) ?? []), ''].join('\n'),
  );
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

const rank = (part: string): number => (part === 'server' ? 0 : 1);

const INTRODUCTION = `# Metrics

Made from the metrics of a running server by \`node scripts/metrics.mjs\`; do not edit.

\`GET /metrics\` is a page in the text format of Prometheus. It asks for a token of an administrator or
one with the permission \`system:metrics:read\` ([TOKENS.md](TOKENS.md)), unless the server was started with
\`--disable-authz metrics\`:

<!-- test: run
export PLINTH_TOKEN=$(plinth token create)
-->
\`\`\`sh
curl -H "authorization: Bearer $PLINTH_TOKEN" http://127.0.0.1:8181/metrics
\`\`\`

Look first at \`plinth_ready\` (does it take work?), \`plinth_data_disk_available_bytes\` (is there room?),
\`http_requests_total\` with \`status="server_error"\` (does it fail?), \`http_request_duration_seconds\` (is it slow?) and
\`nodejs_eventloop_lag_seconds\` (is it busy?). How to scrape, dashboards and alerts: [MONITORING.md](MONITORING.md).

Counters start at 0 with the process. A histogram has the series \`_bucket\` (with the label \`le\`), \`_sum\` and \`_count\`. A metric
without a unit counts things. A server shows what the services that it runs have; one whose store cannot be asked at the
moment is left out.
`;

const HEAD = '| Metric | Type | Labels | Unit | Meaning |';
const RULE = '|---|---|---|---|---|';

function row({ metric: { name, type, labels = [], help } }: RegisteredMetric): string {
  const cells = [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(' '),
    unitOf(name) ?? '',
    help,
  ];
  return `| ${cells.join(' | ')} |`;
}
