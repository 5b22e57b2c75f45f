import type { Metric, MetricSample } from './metric.js';

/** Formats one metric in Prometheus' text format, one line per sample. */
export function metricText({ name, help, type }: Metric, samples: readonly MetricSample[]): string {
  const lines = samples.map(
    ({ metricName = name, labels = {}, value }) =>
      `${metricName}${labelText(labels)} ${numberText(value)}\n`,
  );
  return `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escapeText(String(value)).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapeText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
