const WINDOW_MS = 1000;

/** Log limits of a plugin per second: far above useful output, and low enough not to fill a disk within a day. */
export const MAX_LINES_PER_SEC = 500;
export const MAX_CHARS_PER_SEC = 256 * 1024;

export const LINES_LEFT_OUT = `log lines dropped: a plugin may write ${MAX_LINES_PER_SEC} lines and ${MAX_CHARS_PER_SEC} characters per second`;

/**
 * Limits the log output of a plugin, so that it cannot fill the disk or displace the lines of other
 * plugins.
 */
export class LineAllowance {
  #windowMs = Number.NEGATIVE_INFINITY;
  #lineCount = 0;
  #charCount = 0;
  #isExceeded = false;
  #wasExceeded = false;

  /**
   * Decides whether a line is logged (`take`), replaced by `LINES_LEFT_OUT` (`tell`) or dropped
   * (`leave`). `tell` occurs once, until all lines of one second fit again.
   * @param nowMs time of a monotonic clock.
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
