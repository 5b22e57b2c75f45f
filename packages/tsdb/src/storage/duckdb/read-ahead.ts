/** Who has not come back for so long does not take items as fast as they are made. */
const SLOW_MS = 100;

/**
 * Has items made while the ones before them are used. One is made ahead, and twice as many each time that somebody had to
 * wait for the next: so those who are slower than the source hold no more than one.
 * @param limits.leastCount so many are made ahead even for the slowest.
 * @param source makes no item before it is asked for the one before it.
 * @param stop makes `source` end soon, when nobody wants the rest.
 * @param drop is told of items that were made and are not wanted.
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
  const pending: Asked<T>[] = [];
  const { leastCount = 1, stop, drop } = limits;
  const maxCount = Math.max(leastCount, limits.maxCount);
  let count = leastCount;
  try {
    for (;;) {
      while (pending.length < count) pending.push(new Asked(source.next()));
      const next = pending.shift() as Asked<T>; // at least one was asked for
      if (!next.isMade) count = Math.min(maxCount, count * 2);
      const { done, value } = await next.made;
      if (done === true) {
        pending.length = 0; // They tell the same end, some later: there is nothing to stop.
        return;
      }
      while (pending.length < count) pending.push(new Asked(source.next()));
      const handedOutMs = performance.now();
      yield value;
      if (performance.now() - handedOutMs > SLOW_MS) count = leastCount;
    }
  } finally {
    if (pending.some(({ isMade }) => !isMade)) stop();
    // What the source works on must not be taken away from under it.
    for (const outcome of await Promise.allSettled(pending.map(({ made }) => made))) {
      if (outcome.status === 'fulfilled' && outcome.value.done !== true)
        drop?.(outcome.value.value);
    }
  }
}

/** An item that was asked for. */
class Asked<T> {
  readonly made: Promise<IteratorResult<T, void>>;
  isMade = false;

  constructor(made: Promise<IteratorResult<T, void>>) {
    this.made = made;
    const note = (): void => {
      this.isMade = true;
    };
    // Whoever takes the item sees the failure.
    made.then(note, note);
  }
}
