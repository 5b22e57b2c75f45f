const WINDOW_MS = 1000;

/** What a plugin may write in a second: far more than anybody reads, far less than fills a disk in a day. */
export const MAX_LINES_PER_SEC = 500;
export const MAX_CHARS_PER_SEC = 256 * 1024;

export const LINES_LEFT_OUT = `lines are left out: a plugin may write ${MAX_LINES_PER_SEC} lines and ${MAX_CHARS_PER_SEC} characters a second`;

/** Bounds what a plugin writes to a log, so that one that says too much fills no disk and drives out no others' lines. */
export class LineAllowance {
  #windowMs = Number.NEGATIVE_INFINITY;
  #lineCount = 0;
  #charCount = 0;
  #isExceeded = false;
  #wasExceeded = false;

  /**
   * Whether a line goes into the log, or the first word (`LINES_LEFT_OUT`) that some do not; it is said once as long as no
   * second passes in which all fit.
   * @param nowMs of a monotonic clock.
   */
  take(nowMs: number, sizeChars: number): 'take' | 'tell' | 'leave' {
    if (nowMs - this.#windowMs >= WINDOW_MS) {
      const isNext = nowMs - this.#windowMs < 2 * WINDOW_MS;
      this.#wasExceeded = isNext && this.#isExceeded;
      this.#isExceeded = false;
      this.#windowMs = nowMs;
      this.#lineCount = 0;
      this.#charCount = 0;
    }
    const fits =
      this.#lineCount < MAX_LINES_PER_SEC && this.#charCount + sizeChars <= MAX_CHARS_PER_SEC;
    if (fits) {
      this.#lineCount += 1;
      this.#charCount += sizeChars;
      return 'take';
    }
    const isFirst = !this.#isExceeded && !this.#wasExceeded;
    this.#isExceeded = true;
    return isFirst ? 'tell' : 'leave';
  }
}
