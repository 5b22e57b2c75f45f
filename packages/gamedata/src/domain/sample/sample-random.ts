import { createHash } from 'node:crypto';

/** 32-bit FNV-1a over UTF-8. */
function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** mulberry32. Each kind has its own stream, so more records of one kind do not change another. */
export class SampleRandom {
  #state: number;

  constructor(seed: number, kind: string) {
    this.#state = fnv1a32(`${seed}:${kind}`) | 0;
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** Returns an integer in [from, to]. */
  between(from: number, to: number): number {
    return from + (this.#next() % (to - from + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.#next() % list.length] as T; // lists are not empty
  }

  /** Returns `count` different entries, in list order. */
  some<T>(list: readonly T[], count: number): T[] {
    const left = [...list.keys()];
    const taken: number[] = [];
    while (taken.length < count && left.length > 0) {
      taken.push(...left.splice(this.#next() % left.length, 1));
    }
    return taken.sort((a, b) => a - b).map((index) => list[index] as T); // indexes of the list
  }
}

export function sampleId(seed: number, kind: string, index: number): string {
  return createHash('sha256')
    .update(`plinth-sample:${seed}:${kind}:${index}`)
    .digest('hex')
    .slice(0, 24);
}
