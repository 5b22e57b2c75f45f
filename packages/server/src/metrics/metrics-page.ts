import { type RegisteredMetric, unitOf } from '@plinth/kernel';

/** Generates `docs/METRICS.md` from the metrics of a server with all services. */
export function metricsPage(registered: readonly RegisteredMetric[]): string {
  const parts = new Map<string, string[]>();
  const sorted = [...registered].sort((a, b) => (a.metric.name < b.metric.name ? -1 : 1));
  for (const one of sorted) parts.set(one.part, [...(parts.get(one.part) ?? []), row(one)]);
  // The server's own metrics come first: they exist with any set of services.
  const names = [...parts.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const sections = names.map((name) =>
    [`## ${name}`, '', HEAD, RULE, ...(parts.get(name) ?? []), ''].join('\n'),
  );
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

const rank = (part: string): number => (part === 'server' ? 0 : 1);

const INTRODUCTION = `# Metrics

This reference is for operators. Generated from the metrics of a running server by \`node scripts/metrics.mjs\`; do not edit.

\`GET /metrics\` returns metrics in the Prometheus text format. It requires an admin token, or
one with the permission \`system:metrics:read\` ([TOKENS.md](TOKENS.md)), unless the server was started with
\`--disable-authz metrics\`:

<!-- test: run
export PLINTH_TOKEN=$(plinth token create)
-->
\`\`\`sh
curl -H "authorization: Bearer $PLINTH_TOKEN" http://127.0.0.1:8181/metrics
\`\`\`

Start with \`plinth_ready\` (accepts requests), \`plinth_data_disk_available_bytes\` (free disk space),
\`http_requests_total\` with \`status="server_error"\` (failures), \`http_request_duration_seconds\` (latency) and
\`nodejs_eventloop_lag_seconds\` (load). For scraping, dashboards and alerts, see [MONITORING.md](MONITORING.md).

Counters start at 0 when the process starts. A histogram has the series \`_bucket\` (with the label \`le\`), \`_sum\` and \`_count\`. Metrics
without a unit are counts. A server returns the metrics of its running services, except services whose store is unavailable.
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
