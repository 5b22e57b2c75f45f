import { Histogram, type Metrics } from '@plinth/kernel';
import type { Library } from './domain/library.js';
import { KINDS } from './model/kinds.js';
import type { ReplyCache } from './routes/reply-cache.js';

/** Bucket bounds; they cover changes of a single record up to sets of 100,000 records. */
const PUBLISH_BOUNDS_SEC = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the metrics of the service. Source: gamedata, section 10. */
export function registerMetrics(
  metrics: Metrics,
  options: {
    readonly library: Library;
    readonly cache: ReplyCache;
    readonly behindMs: () => number;
  },
): void {
  const { library, cache, behindMs } = options;
  metrics.gauge({
    name: 'plinth_gamedata_behind_seconds',
    help: 'Time since changes by other nodes were last read; 0 without a shared store.',
    read: () => behindMs() / 1000,
  });
  metrics.gauge({
    name: 'plinth_gamedata_degraded',
    help: '1 while the newest version is unreadable and an older one is served.',
    read: () => Number(library.isDegraded),
  });
  metrics.gauge({
    name: 'plinth_gamedata_version',
    help: 'Number of the published version.',
    read: () => library.current.version.version,
  });
  metrics.add({
    name: 'plinth_gamedata_records',
    help: 'Published records by kind.',
    type: 'gauge',
    labels: ['kind'],
    samples: () => {
      const counts = library.current.set.counts();
      return KINDS.map((kind) => ({ labels: { kind }, value: counts[kind] }));
    },
  });
  metrics.add({
    name: 'plinth_gamedata_reply_cache_hits_total',
    help: 'Reads served from the response cache.',
    type: 'counter',
    samples: () => [{ value: cache.hits }],
  });
  metrics.add({
    name: 'plinth_gamedata_reply_cache_misses_total',
    help: 'Reads that missed the response cache.',
    type: 'counter',
    samples: () => [{ value: cache.misses }],
  });
  metrics.gauge({
    name: 'plinth_gamedata_reply_cache_bytes',
    help: 'Size of the response cache.',
    read: () => cache.sizeBytes,
  });
  const published = new Histogram(PUBLISH_BOUNDS_SEC);
  const name = 'plinth_gamedata_publish_duration_seconds';
  metrics.add({
    name,
    help: 'Duration of publications, including validation.',
    type: 'histogram',
    samples: () => published.samples(name),
  });
  library.onPublished((_edition, { durationMs }) => {
    if (durationMs !== undefined) published.observe(durationMs / 1000);
  });
}
