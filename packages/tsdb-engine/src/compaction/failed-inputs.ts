/** Delays after a failed merge: doubled after each failure, up to the maximum. */
const FIRST_RETRY_MS = 10_000;
const LONGEST_RETRY_MS = 3_600_000;

interface Failure {
  readonly notBeforeMs: number;
  readonly retryMs: number;
}

/** Files of failed merges, which are skipped for a while so that other files are merged. */
export class FailedInputs {
  readonly #nowMs: () => number;
  /** Failures by file id; bounded by the number of files. */
  readonly #failures = new Map<string, Failure>();

  /** @param nowMs of a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** True for some time after a failed merge of the file. */
  isSkipped({ id }: { readonly id: string }): boolean {
    const failure = this.#failures.get(id);
    return failure !== undefined && this.#nowMs() < failure.notBeforeMs;
  }

  /** @returns whether one of them has not failed before. */
  note(inputs: readonly { readonly id: string }[]): boolean {
    let isNew = false;
    for (const { id } of inputs) {
      const before = this.#failures.get(id);
      isNew ||= before === undefined;
      const retryMs =
        before === undefined ? FIRST_RETRY_MS : Math.min(before.retryMs * 2, LONGEST_RETRY_MS);
      this.#failures.set(id, { retryMs, notBeforeMs: this.#nowMs() + retryMs });
    }
    return isNew;
  }

  /** Drops entries of files that no longer exist. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#failures.keys()) if (!ids.has(id)) this.#failures.delete(id);
  }
}
