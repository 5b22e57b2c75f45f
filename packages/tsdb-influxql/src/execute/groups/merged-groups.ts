import { NO_POINTS, type Points } from '../series/points.js';
import { compareTags } from '../series/series.js';
import type { CallPlan } from './call-plan.js';
import type { CallGroup } from './read-aggregates.js';

/** A stream of groups with the points of some of the calls. */
export interface GroupStream {
  readonly plans: readonly CallPlan[];
  readonly groups: AsyncIterator<CallGroup>;
}

/**
 * Merges the groups of several streams in ascending order. Within `points`, calls keep the order
 * of the statement.
 */
export async function* mergedGroups(
  streams: readonly GroupStream[],
  order: readonly CallPlan[],
): AsyncGenerator<CallGroup> {
  const indexes = new Map(order.map((plan, i) => [plan, i]));
  const heads: (CallGroup | undefined)[] = [];
  const advance = async (i: number): Promise<void> => {
    const next = await streams[i]?.groups.next();
    heads[i] = next?.done ? undefined : next?.value;
  };
  try {
    for (let i = 0; i < streams.length; i++) await advance(i);
    for (;;) {
      let tags: readonly string[] | undefined;
      for (const head of heads) {
        if (head !== undefined && (tags === undefined || compareTags(head.tags, tags) < 0))
          tags = head.tags;
      }
      if (tags === undefined) return;
      const points = new Map<number, Points>();
      for (let i = 0; i < streams.length; i++) {
        const head = heads[i];
        if (head === undefined || compareTags(head.tags, tags) !== 0) continue;
        streams[i]?.plans.forEach((plan, p) => {
          points.set(indexes.get(plan) ?? 0, head.points[p] ?? NO_POINTS);
        });
        await advance(i);
      }
      yield { tags, points: order.map((_, i) => points.get(i) ?? NO_POINTS) };
    }
  } finally {
    for (const { groups } of streams) await groups.return?.();
  }
}
