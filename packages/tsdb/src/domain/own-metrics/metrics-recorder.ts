import { type Clock, isDomainError, type MetricSample, type Metrics } from '@plinth/kernel';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';

/** In the database `_internal`. */
export const OWN_TABLE = 'metrics';
/** Maximum number of label combinations written per round. */
const MAX_ROW_COUNT = 5000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

interface MetricsRecorderDeps {
  readonly metrics: Metrics;
  readonly engine: Pick<Engine, 'write'>;
  readonly clock: Clock;
  /** Tag on every row. */
  readonly node: string;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Writes the server's own metrics to the database `_internal`, so that dashboards need no other
 * metrics store. Each label combination is a row, and each metric a field. Histogram buckets are
 * omitted; their sum and count are stored.
 */
export class MetricsRecorder {
  readonly #deps: MetricsRecorderDeps;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;

  constructor(deps: MetricsRecorderDeps) {
    this.#deps = deps;
  }

  start(intervalMs: number): void {
    if (intervalMs > 0) this.#ticker ??= this.#deps.clock.every(intervalMs, () => this.record());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#running;
  }

  /** Resolves when the current values are written or the write has failed. */
  record(): Promise<void> {
    this.#running ??= this.#record()
      // Full buffers and read-only nodes are reported elsewhere. The next round retries.
      .catch((error: unknown) => (isDomainError(error) ? undefined : this.#deps.onFailed(error)))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #record(): Promise<void> {
    const all = await this.#deps.metrics.read();
    const lines = toLines(
      all.flatMap(({ metric, samples }) =>
        samples.map((sample) => ({ name: metric.name, sample })),
      ),
      this.#deps.node,
    );
    if (lines.length === 0) return;
    await this.#deps.engine.write({
      database: INTERNAL_DATABASE,
      isInternal: true,
      access: FULL_ACCESS,
      body: Buffer.from(lines.join('\n')),
      encoding: 'identity',
      maxSizeBytes: MAX_BODY_BYTES,
      precision: 'nanosecond',
      acceptPartial: true,
      noSync: true,
      receivedNs: this.#deps.clock.nowNs(),
    });
  }
}

function toLines(
  samples: readonly { readonly name: string; readonly sample: MetricSample }[],
  node: string,
): string[] {
  const fieldsOf = new Map<string, string[]>();
  for (const { name, sample } of samples) {
    const { metricName = name, labels = {}, value } = sample;
    if ('le' in labels || !Number.isFinite(value)) continue;
    const tags = Object.entries({ ...labels, node })
      .filter(([, text]) => String(text) !== '')
      .map(([key, text]) => `,${escaped(key)}=${escaped(String(text))}`)
      .sort()
      .join('');
    const fields = fieldsOf.get(tags);
    const field = `${escaped(metricName)}=${value}`;
    if (fields !== undefined) fields.push(field);
    else if (fieldsOf.size < MAX_ROW_COUNT) fieldsOf.set(tags, [field]);
  }
  return [...fieldsOf].map(([tags, fields]) => `${OWN_TABLE}${tags} ${fields.join(',')}`);
}

/** Newlines cannot be escaped in a tag value. */
function escaped(text: string): string {
  return text.replace(/[\n\r]/g, ' ').replace(/[\\ ,=]/g, '\\$&');
}
