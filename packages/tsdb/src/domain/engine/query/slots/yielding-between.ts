import type { QueryOwner } from '../../../../model/query-owner.js';
import { TimeSlicedTask } from '../../../../model/time-sliced-task.js';
import type { QuerySlot } from './query-slots.js';

/**
 * Hands chunks on and lends the query's place while nobody asks for the next: slow readers must not keep others from
 * running.
 */
export async function* yieldingSlotBetween<T>(
  slot: QuerySlot,
  chunks: AsyncIterable<T> | Iterable<T>,
): AsyncGenerator<T, void, undefined> {
  for await (const chunk of chunks) {
    slot.yieldSlot();
    yield chunk;
    const isBack = slot.reacquire();
    if (isBack !== undefined) await isBack;
  }
}

/** Items that are made as they are asked for. Others get their turn between two, and who has left gets no more. */
export async function* yieldingBetween<T>(
  items: Iterable<T>,
  queryOwner: QueryOwner,
): AsyncGenerator<T, void, undefined> {
  const runner = new TimeSlicedTask(queryOwner);
  for (const item of items) {
    await runner.take();
    yield item;
  }
}
