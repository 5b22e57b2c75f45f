import type { Logger } from '@plinth/kernel';
import type { EngineReport } from '@plinth/tsdb-engine/engine-deps.js';
import { isoOf } from '@plinth/tsdb-model/time/calendar.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { RefusedWrites } from './domain/refused-writes/refused-writes.js';
import type { EngineMetrics } from './metrics.js';

/** Maximum number of tables named in one log line. */
const MAX_NAMED_TABLES = 100;
const UNKNOWN_ADVICE =
  'plinth.db is older than these files, or other files are missing: stop the server and restore the matching plinth.db and these files (below objects/tsdb), or remove them with "plinth aside --data-dir <folder> --remove"';

/** Reports events of the storage engine as log lines and metrics. */
export function reportTo(
  log: Logger,
  metrics: EngineMetrics,
  refusedWrites: RefusedWrites,
): EngineReport {
  return {
    rowsRefused: (request, outcome) => refusedWrites.note(request, outcome),
    flushed: (durationMs) => metrics.flushed(durationMs),
    flushFailed(err, retryMs) {
      metrics.flushFailed();
      log.error({ err, retryMs }, 'flush failed; rows stay in the log');
    },
    rowsLeftInLog: () => log.info('rows remain in the log and are restored at the next startup'),
    compacted: () => metrics.compacted(),
    compactionFailed({ error: err, table, isKnown }) {
      metrics.compactionFailed();
      if (!isKnown) log.error({ err, table }, 'compaction failed; other files are still merged');
    },
    backgroundFailed(err) {
      metrics.backgroundFailed();
      const isDamage = err instanceof FileDamaged;
      log.error({ err }, isDamage ? 'stored file is corrupt' : 'background work failed');
    },
    segmentDamaged({ objectName, rowCount, minTime, maxTime }, table, err) {
      metrics.backgroundFailed();
      log.error(
        { err, objectName, table, rowCount, minTime: isoOf(minTime), maxTime: isoOf(maxTime) },
        'stored file is corrupt',
      );
    },
    segmentLost: ({ objectName, rowCount, minTime, maxTime }, table, err) =>
      log.warn(
        { err, objectName, table, rowCount, minTime: isoOf(minTime), maxTime: isoOf(maxTime) },
        'corrupt segment quarantined; its rows are lost',
      ),
    indexRebuilt: (err) => log.warn({ err }, 'series index rebuilt from segments'),
    unknownFiles({ kind, count, sizeBytes, folder }) {
      if (kind === 'removed')
        log.info({ count, sizeBytes }, 'files of an unfinished flush removed');
      else
        log.warn(
          { count, sizeBytes, folder, advice: UNKNOWN_ADVICE },
          'quarantined files that are not registered in plinth.db',
        );
    },
    rowsLost(tables, { without, nameOf }) {
      const rowCount = [...tables.values()].reduce((sum, count) => sum + count, 0);
      metrics.rowsLost(rowCount);
      const named = [...tables].slice(0, MAX_NAMED_TABLES);
      log.warn(
        {
          rowCount,
          tableCount: tables.size,
          tables: named.map(([tableId, count]) => ({
            tableId,
            table: nameOf(tableId),
            rowCount: count,
          })),
        },
        without === 'table'
          ? 'rows in the log belong to tables that are missing from the catalog; these rows are lost'
          : 'rows in the log refer to tags defined in a lost record; these rows are lost',
      );
    },
    replayed: (rowCount) => log.info({ rowCount }, 'rows restored from the log'),
  };
}
