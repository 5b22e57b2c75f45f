import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { QueryTicket } from './query-slots.js';

/**
 * Forwards chunks and yields the query's slot between them: slow readers must not block other
 * queries.
 */
export async function* yieldingSlotBetween<T>(
  ticket: QueryTicket,
  chunks: AsyncIterable<T> | Iterable<T>,
): AsyncGenerator<T, void, undefined> {
  for await (const chunk of chunks) {
    ticket.yieldSlot();
    yield chunk;
    const isBack = ticket.reacquire();
    if (isBack !== undefined) await isBack;
  }
}

/**
 * Forwards items that are produced synchronously. Yields to the event loop between them, and stops
 * when the query is aborted.
 */
export async function* yieldingBetween<T>(
  items: Iterable<T>,
  queryContext: QueryContext,
): AsyncGenerator<T, void, undefined> {
  const task = new TimeSlicedTask(queryContext);
  for (const item of items) {
    await task.yieldIfDue();
    yield item;
  }
}
