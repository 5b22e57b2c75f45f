/** A consumer that takes longer than this per item is slow. */
const SLOW_MS = 100;

/**
 * Reads items ahead while earlier ones are used. It starts with one item and doubles the number
 * each time the consumer had to wait. A slow consumer therefore never holds more than the minimum.
 * @param limits.leastCount minimum number of items read ahead.
 * @param source must produce items in order, one after another.
 * @param stop makes `source` end soon, because the rest is not needed.
 * @param drop receives items that were read and are not needed.
 */
export async function* readAhead<T>(
  source: AsyncIterator<T, void, undefined>,
  limits: {
    readonly maxCount: number;
    readonly leastCount?: number | undefined;
    readonly stop: () => void;
    readonly drop?: (item: T) => void;
  },
): AsyncGenerator<T, void, undefined> {
  const pending: PendingItem<T>[] = [];
  const { leastCount = 1, stop, drop } = limits;
  const maxCount = Math.max(leastCount, limits.maxCount);
  let count = leastCount;
  try {
    for (;;) {
      while (pending.length < count) pending.push(new PendingItem(source.next()));
      const next = pending.shift() as PendingItem<T>; // at least one request is pending
      if (!next.isMade) count = Math.min(maxCount, count * 2);
      const { done, value } = await next.made;
      if (done === true) {
        pending.length = 0; // The other pending items report the same end, so there is nothing to stop.
        return;
      }
      while (pending.length < count) pending.push(new PendingItem(source.next()));
      const handedOutMs = performance.now();
      yield value;
      if (performance.now() - handedOutMs > SLOW_MS) count = leastCount;
    }
  } finally {
    if (pending.some(({ isMade }) => !isMade)) stop();
    // Wait, because the source must not be closed while it is still reading.
    for (const outcome of await Promise.allSettled(pending.map(({ made }) => made))) {
      if (outcome.status === 'fulfilled' && outcome.value.done !== true)
        drop?.(outcome.value.value);
    }
  }
}

/** An item that was requested from the source. */
class PendingItem<T> {
  readonly made: Promise<IteratorResult<T, void>>;
  isMade = false;

  constructor(made: Promise<IteratorResult<T, void>>) {
    this.made = made;
    const note = (): void => {
      this.isMade = true;
    };
    // The consumer of the item receives the failure.
    made.then(note, note);
  }
}
