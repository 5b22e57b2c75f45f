import { fetchTop, NEAR_LIMIT, usedShare } from '@plinth/console-core/api/limits.js';
import { fetchTriggerLog } from '@plinth/console-core/api/processing.js';
import { fetchHealth, type ServerInfo } from '@plinth/console-core/api/server.js';
import { fetchStorage } from '@plinth/console-core/api/storage.js';
import { fetchDatabases } from '@plinth/console-core/api/tsdb.js';
import { type App, fetchApps, fetchQueue } from '@plinth/console-core/api/webhooks.js';
import { countOf, countText, durationText } from '@plinth/console-core/lib/units.js';
import { deliveryCount, deliveryFigures } from '@plinth/console-core/lib/webhooks/delivery-text.js';

/** A problem that an operator should check, with the page for it. */
export interface Problem {
  readonly isBad: boolean;
  readonly text: string;
  readonly links: readonly {
    readonly label: string;
    readonly to: string;
    readonly search?: Readonly<Record<string, string>>;
  }[];
}

/** Each app and database requires its own requests, so the number of checks is limited. */
const MAX_CHECKED = 20;
const RECENT_MS = 10 * 60_000;

/** Fetches the problems of all services that run here, the most severe first. */
export async function fetchProblems({ services }: ServerInfo): Promise<readonly Problem[]> {
  const checks = [
    serverProblems(),
    ...(services.includes('tsdb') ? [storageProblems(), triggerProblems()] : []),
    ...(services.includes('webhooks') ? [webhookProblems()] : []),
    ...(services.includes('ratelimit') ? [limitProblems()] : []),
  ];
  const found = (await Promise.all(checks)).flat();
  return [...found.filter(({ isBad }) => isBad), ...found.filter(({ isBad }) => !isBad)];
}

async function serverProblems(): Promise<Problem[]> {
  const { obstacle } = await fetchHealth();
  if (obstacle === null) return [];
  return [
    {
      isBad: true,
      text: obstacle,
      links: [{ label: 'Open log', to: '/server', search: { tab: 'logs' } }],
    },
  ];
}

async function storageProblems(): Promise<Problem[]> {
  const { flush, compaction, obstacle } = await fetchStorage();
  const links = [{ label: 'View', to: '/storage' }];
  return [
    ...(obstacle === null ? [] : [`Writes are rejected: ${obstacle}`]),
    ...(flush.last?.error ? [`The last flush failed: ${flush.last.error}`] : []),
    ...(compaction.last_failure
      ? [`Compaction of ${compaction.last_failure.db}.${compaction.last_failure.table} failed`]
      : []),
  ].map((text) => ({ isBad: true, text, links }));
}

async function triggerProblems(): Promise<Problem[]> {
  const databases = await fetchDatabases();
  const names = databases.map(({ name }) => name).filter((name) => name !== '_internal');
  const lists = await Promise.all(
    names.slice(0, MAX_CHECKED).map(async (db) => {
      const from = new Date(Date.now() - RECENT_MS).toISOString();
      const counts = new Map<string, number>();
      for (const { event_time, trigger_name, log_level } of await fetchTriggerLog(db, ''))
        if (log_level === 'ERROR' && event_time >= from.slice(0, event_time.length))
          counts.set(trigger_name, (counts.get(trigger_name) ?? 0) + 1);
      return [...counts].map(([name, count]) => ({
        isBad: true,
        text: `Trigger ${name} of ${db}: ${countOf(count, 'error')} in the last 10 min`,
        links: [
          {
            label: 'View',
            to: `/triggers/${encodeURIComponent(db)}/${encodeURIComponent(name)}`,
            search: { tab: 'runs' },
          },
        ],
      }));
    }),
  );
  return lists.flat();
}

async function webhookProblems(): Promise<Problem[]> {
  const apps = await fetchApps();
  const lists = await Promise.all(apps.slice(0, MAX_CHECKED).map(problemsOfApp));
  return lists.flat();
}

async function problemsOfApp(app: App): Promise<Problem[]> {
  const id = String(app.id);
  const queue = await fetchQueue(id);
  const links = [
    { label: 'View', to: `/webhooks/${id}`, search: { show: 'failed' } },
    { label: 'Redrive', to: `/webhooks/${id}/redrive` },
  ];
  const figures = app.hook ? deliveryFigures(app.hook.last_hour) : undefined;
  const waiting = queue.pending + queue.leased;
  if (figures?.isFailing === true) {
    const percent = 100 - figures.successPercent;
    const text = `${app.name}: ${percent} % of ${deliveryCount(figures.count)} in the last hour failed`;
    return [
      { isBad: true, text: waiting === 0 ? text : `${text}, ${countText(waiting)} queued`, links },
    ];
  }
  if (queue.dead === 0) return [];
  const dead = { isBad: false, text: `${app.name}: ${countOf(queue.dead, 'dead event')}`, links };
  return [dead];
}

async function limitProblems(): Promise<Problem[]> {
  const top = await fetchTop('core');
  return top
    .filter((caller) => usedShare(caller) >= NEAR_LIMIT)
    .sort((a, b) => usedShare(b) - usedShare(a))
    .slice(0, 5)
    .map(({ identity, used, limit, reset }) => ({
      isBad: false,
      text:
        `${identity} used ${countText(used)} of ${countText(limit ?? 0)} core requests; ` +
        `resets in ${durationText(Math.max(0, (reset ?? 0) - Date.now() / 1000))}`,
      links: [{ label: 'Caller', to: '/limits', search: { identity } }],
    }));
}
