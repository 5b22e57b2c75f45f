/** A range of a file. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** Tracks unused ranges of a file. */
export class FreeRegions {
  /** In order and not adjacent. */
  #gaps: Region[] = [];
  #end = 0;

  /** Returns the first gap that is large enough, or space at the end. */
  take(sizeBytes: number): Region {
    const index = this.#gaps.findIndex(({ start, end }) => end - start >= sizeBytes);
    const gap = this.#gaps[index];
    if (gap === undefined) {
      const start = this.#end;
      this.#end += sizeBytes;
      return { start, end: this.#end };
    }
    const taken = { start: gap.start, end: gap.start + sizeBytes };
    const rest = taken.end < gap.end ? [{ start: taken.end, end: gap.end }] : [];
    this.#gaps.splice(index, 1, ...rest);
    return taken;
  }

  give({ start, end }: Region): void {
    const next = this.#gaps.findIndex((gap) => gap.start >= end);
    const at = next === -1 ? this.#gaps.length : next;
    const before = this.#gaps[at - 1];
    const after = this.#gaps[at];
    const joinsBefore = before?.end === start;
    const joinsAfter = after?.start === end;
    const joined: Region = {
      start: joinsBefore ? before.start : start,
      end: joinsAfter ? after.end : end,
    };
    const first = joinsBefore ? at - 1 : at;
    this.#gaps.splice(first, Number(joinsBefore) + Number(joinsAfter), joined);
    const last = this.#gaps.at(-1);
    if (last?.end !== this.#end) return;
    this.#end = last.start;
    this.#gaps.pop();
  }
}
