import {
  type BucketOwner,
  type BucketStore,
  type Clock,
  ConfigInvalid,
  type Logger,
  messageOf,
  probeBucket,
  type Random,
  StoreOutage,
} from '@plinth/kernel';
import type { SegmentUploads } from './segment-uploads.js';

/** A store that has not responded by then does not delay the start; the first pass probes it again. */
const START_WAIT_MS = 3000;

/**
 * The bucket in which tables are published. It is probed before it is used. While it is unavailable, publishing is delayed
 * and nothing else changes.
 */
export class PublishedBucket {
  readonly store: BucketStore;
  readonly uploads: SegmentUploads;
  readonly #owner: BucketOwner;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  #isProbed = false;
  #isReconciled = false;
  #isUnavailable = false;

  constructor(options: {
    readonly store: BucketStore;
    readonly uploads: SegmentUploads;
    readonly owner: BucketOwner;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Logger;
  }) {
    this.store = options.store;
    this.uploads = options.uploads;
    this.#owner = options.owner;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#log = options.log;
  }

  /** Called at the start. Throws `ConfigInvalid` if the bucket must not be used; an outage is only logged. */
  async open(): Promise<void> {
    const waiting = new AbortController();
    const probing = this.#probe();
    const timeout = this.#clock.sleep(START_WAIT_MS, waiting.signal);
    try {
      await Promise.race([probing, timeout]);
    } catch (error) {
      if (!(error instanceof StoreOutage)) throw toConfigFault(this.store.root, error);
      this.noteOutage(error);
    } finally {
      waiting.abort();
      for (const running of [probing, timeout]) running.catch(() => undefined); // the next pass probes again
    }
  }

  /** Called before each pass. Throws if the bucket cannot be used now. */
  async prepare(): Promise<void> {
    await this.#probe();
    if (!this.#isReconciled) await this.uploads.reconcile();
    this.#isReconciled = true;
  }

  noteOutage(error: unknown): void {
    if (!this.#isUnavailable)
      this.#log.warn(
        { bucket: this.store.root, why: messageOf(error) },
        'object store unavailable; publishing is delayed',
      );
    this.#isUnavailable = true;
  }

  noteSuccess(): void {
    if (this.#isUnavailable)
      this.#log.info({ bucket: this.store.root }, 'object store available again');
    this.#isUnavailable = false;
  }

  async #probe(): Promise<void> {
    if (this.#isProbed) return;
    const { store } = this;
    const { warnings } = await probeBucket(store, { owner: this.#owner, random: this.#random });
    this.#isProbed = true;
    for (const warning of warnings) this.#log.warn({ bucket: store.root }, warning);
  }
}

const toConfigFault = (root: string, error: unknown): ConfigInvalid =>
  new ConfigInvalid([`object_store.bucket (${root}): ${messageOf(error)}`]);
