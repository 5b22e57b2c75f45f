import type { Logger } from '@plinth/kernel';
import type { EngineReport } from './domain/engine/engine-deps.js';
import type { EngineMetrics } from './metrics.js';
import { isoOf } from './model/time/calendar.js';
import { FileDamaged } from './storage/segments/file-sums.js';

/** Maximum number of tables named in one log line. */
const MAX_NAMED_TABLES = 100;
const UNKNOWN_ADVICE =
  'plinth.db is older than these files, or others are missing: stop, put the right plinth.db and these files back (below objects/tsdb), or remove them by "plinth aside --data-dir <folder> --remove"';

/** Reports events of the storage engine as log lines and metrics. */
export function reportTo(log: Logger, metrics: EngineMetrics): EngineReport {
  return {
    flushed: (durationMs) => metrics.flushed(durationMs),
    flushFailed(err, retryMs) {
      metrics.flushFailed();
      log.error({ err, retryMs }, 'flush failed; rows stay in the log');
    },
    rowsLeftInLog: () => log.info('rows are left in the log; the next start reads them'),
    compacted: () => metrics.compacted(),
    compactionFailed({ error: err, table, isKnown }) {
      metrics.compactionFailed();
      if (!isKnown) log.error({ err, table }, 'merge of files failed; others are merged meanwhile');
    },
    backgroundFailed(err) {
      metrics.backgroundFailed();
      const isDamage = err instanceof FileDamaged;
      log.error({ err }, isDamage ? 'stored file is damaged' : 'background work failed');
    },
    segmentDamaged({ objectName, rowCount, minTime, maxTime }, table, err) {
      metrics.backgroundFailed();
      log.error(
        { err, objectName, table, rowCount, minTime: isoOf(minTime), maxTime: isoOf(maxTime) },
        'stored file is damaged',
      );
    },
    segmentLost: ({ objectName, rowCount, minTime, maxTime }, table, err) =>
      log.warn(
        { err, objectName, table, rowCount, minTime: isoOf(minTime), maxTime: isoOf(maxTime) },
        'damaged segment moved aside; its rows are lost',
      ),
    indexRebuilt: (err) => log.warn({ err }, 'series index rebuilt from segments'),
    unknownFiles({ kind, count, sizeBytes, folder }) {
      if (kind === 'removed')
        log.info({ count, sizeBytes }, 'files of an unfinished flush removed');
      else
        log.warn(
          { count, sizeBytes, folder, advice: UNKNOWN_ADVICE },
          'stored files that plinth.db does not know moved aside',
        );
    },
    rowsLost(tables, without) {
      const rowCount = [...tables.values()].reduce((sum, count) => sum + count, 0);
      metrics.rowsLost(rowCount);
      const named = [...tables].slice(0, MAX_NAMED_TABLES);
      log.warn(
        {
          rowCount,
          tableCount: tables.size,
          tables: named.map(([tableId, count]) => ({ tableId, rowCount: count })),
        },
        without === 'table'
          ? 'rows of the log belong to tables that the catalog has lost'
          : 'rows of the log have tags that a lost record defined',
      );
    },
    replayed: (rowCount) => log.info({ rowCount }, 'rows of the log are back in memory'),
  };
}
