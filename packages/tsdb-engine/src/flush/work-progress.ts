import { type Clock, messageOf } from '@plinth/kernel';

/** Background work as shown to operators. */
export interface WorkState {
  readonly running:
    | { readonly sinceMs: number; readonly tableCount: number; readonly doneCount: number }
    | undefined;
  readonly last:
    | { readonly endedMs: number; readonly durationMs: number; readonly error: string | undefined }
    | undefined;
}

/** Records the progress of a running flush and the outcome of the last one. */
export class WorkProgress {
  readonly #clock: Clock;
  #state: WorkState = { running: undefined, last: undefined };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get state(): WorkState {
    return this.#state;
  }

  async of<T>(work: () => Promise<T>): Promise<T> {
    const startMs = this.#clock.monotonicMs();
    const running = { sinceMs: this.#clock.nowMs(), tableCount: 0, doneCount: 0 };
    this.#state = { ...this.#state, running };
    const ended = (error?: unknown): void => {
      const last = {
        endedMs: this.#clock.nowMs(),
        durationMs: this.#clock.monotonicMs() - startMs,
        error: error === undefined ? undefined : messageOf(error),
      };
      this.#state = { running: undefined, last };
    };
    try {
      const result = await work();
      ended();
      return result;
    } catch (error) {
      ended(error);
      throw error;
    }
  }

  /** Records how many of the tables are done. */
  note(tableCount: number, doneCount: number): void {
    const { running } = this.#state;
    if (running !== undefined)
      this.#state = { ...this.#state, running: { ...running, tableCount, doneCount } };
  }
}
