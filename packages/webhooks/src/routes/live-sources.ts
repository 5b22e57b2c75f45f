import { type LiveSource, type Logger, repeatJob, watchState } from '@plinth/kernel';
import { hookOf, type QueueRouteDeps, queueToWire } from './queue-routes.js';
import { operatorSummary } from './to-wire.js';

const QUEUE_INTERVAL_MS = 1000;
const DELIVERIES_INTERVAL_MS = 1000;
/**
 * Maximum deliveries per look-up. This is one more than are shown per second, so that the page can
 * report omissions.
 */
const MAX_SEEN_COUNT = 201;

type Needs = QueueRouteDeps & { readonly log: Logger };

/**
 * Returns the live data of an app for open console pages. It is read from the store, because other
 * nodes deliver as well.
 */
export const liveSources = (deps: Needs): readonly LiveSource[] => [
  {
    name: 'queue',
    isState: true,
    async open([app = '', ...more], notify) {
      const hook = await hookOf(app, deps);
      if (hook === undefined || more.length > 0) return undefined;
      return watchState(
        { ...deps, intervalMs: QUEUE_INTERVAL_MS },
        () => {
          const now = deps.hooks.get(hook.appId);
          return now && queueToWire(now, deps);
        },
        (state) => notify('queue', state),
      );
    },
  },
  {
    name: 'deliveries',
    isState: false,
    async open([app = '', ...more], notify) {
      const hook = await hookOf(app, deps);
      if (hook === undefined || more.length > 0) return undefined;
      const list = async () =>
        (await deps.deliveries.list(hook.appId, {}, undefined, MAX_SEEN_COUNT)).items;
      let known = new Set((await list()).map(({ id }) => id));
      const job = { name: 'deliveries for live pages', intervalMs: DELIVERIES_INTERVAL_MS };
      return repeatJob({ ...deps, ...job }, async () => {
        if (deps.hooks.get(hook.appId) === undefined) return;
        const items = await list();
        const fresh = items.filter(({ id }) => !known.has(id)).reverse();
        known = new Set(items.map(({ id }) => id));
        for (const item of fresh) notify('delivery', operatorSummary(item));
      });
    },
  },
];
