import { type LiveSource, watchState } from '@plinth/kernel';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { RunLogEntry } from '@plinth/tsdb-plugins/domain/runs/run-log.js';
import type { RouteDeps } from '../deps.js';
import { TimeWriter } from '../formats/time-text.js';
import { queriesToWire } from './query-log-routes.js';
import { storageToWire } from './storage-routes.js';

const QUERIES_INTERVAL_MS = 2000;
const JOBS_INTERVAL_MS = 1000;
const WITHOUT_CONSOLE = 'without-console';
const SHOWN_QUERY_COUNT = 100;
/** Limits the size of updates, because all queries are sent again with each change. */
const SHOWN_TEXT_LENGTH = 500;
const TIMES = new TimeWriter('', 'thousands');

type Parts = Pick<RouteDeps, 'catalog' | 'clock' | 'log' | 'processing' | 'queryLog'> & {
  readonly engine: { readonly storage: RouteDeps['storage'] };
};

/** Sources of live updates for open console pages. */
export const liveSources = (parts: Parts): readonly LiveSource[] => {
  const { catalog, queryLog, engine } = parts;
  return [
    {
      name: 'queries',
      isState: true,
      open: ([queries, ...more], notify) =>
        more.length > 0 || (queries !== undefined && queries !== WITHOUT_CONSOLE)
          ? undefined
          : watchState(
              { ...parts, intervalMs: QUERIES_INTERVAL_MS },
              () =>
                queriesToWire(queryLog, {
                  ...{
                    running: false,
                    hasConsole: queries === undefined,
                    limit: SHOWN_QUERY_COUNT,
                  },
                  maxTextLength: SHOWN_TEXT_LENGTH,
                }),
              (state) => notify('queries', state),
            ),
    },
    {
      name: 'jobs',
      isState: true,
      open: ({ length }, notify) =>
        length > 0
          ? undefined
          : watchState(
              { ...parts, intervalMs: JOBS_INTERVAL_MS },
              () => storageToWire(catalog, engine.storage),
              (state) => notify('storage', state),
            ),
    },
    triggerLogs(parts),
  ];
};

/** Log lines of a database's triggers, as in `system.processing_engine_logs`. */
const triggerLogs = ({ catalog, processing }: Parts): LiveSource => ({
  name: 'trigger-logs',
  isState: false,
  open([db = '', trigger, ...more], notify) {
    if (catalog.database(db) === undefined || more.length > 0) return undefined;
    return processing.engine.runLog.watch((entry) => {
      if (trigger !== undefined && entry.triggerName !== trigger) return;
      if (db !== INTERNAL_DATABASE && catalog.database(db)?.id !== entry.databaseId) return;
      notify('line', lineToWire(entry));
    });
  },
});

const lineToWire = ({ timeNs, triggerName, level, text }: RunLogEntry): object => ({
  event_time: TIMES.text(timeNs),
  trigger_name: triggerName,
  log_level: level,
  log_text: text,
});
