import type { Clock, Logger } from '@plinth/kernel';
import type { QueueStore } from '../../storage/queue/queue-store.js';
import type { Lane } from './lane.js';
import type { Lanes } from './lanes.js';
import type { Strays } from './strays.js';

export interface ClaimDeps {
  readonly queue: QueueStore;
  readonly lanes: Lanes;
  readonly strays: Strays;
  readonly clock: Clock;
  readonly log: Logger;
  /** These have got what there was for them. */
  readonly onClaimed: (lanes: readonly Lane[]) => void;
}

const MAX_CLAIMS_AT_ONCE = 64;
const FAILURE_PAUSE_MS = 1000;

/** Fills the windows of lanes from the store: what asks while a claim runs goes together with the next one. */
export class Claims {
  readonly #needs: ClaimDeps;
  readonly #wanting = new Set<Lane>();
  #isRunning = false;
  #isStopping = false;

  constructor(needs: ClaimDeps) {
    this.#needs = needs;
  }

  /** Gets more for a lane. */
  want(lane: Lane): void {
    if (lane.isClaiming) return;
    this.#wanting.add(lane);
    if (!this.#isRunning) void this.#run();
  }

  /** No further claim begins. */
  stop(): void {
    this.#isStopping = true;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#wanting.size > 0 && !this.#isStopping) {
        const lanes = [...this.#wanting].slice(0, MAX_CLAIMS_AT_ONCE);
        for (const lane of lanes) this.#wanting.delete(lane);
        await this.#claim(lanes);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #claim(lanes: readonly Lane[]): Promise<void> {
    const { queue, clock, log } = this.#needs;
    const limit = this.#needs.lanes.claimLimit;
    const hints = lanes.map((lane) => lane.moreHints);
    for (const lane of lanes) lane.isClaiming = true;
    try {
      const items = await this.#needs.strays.taking(async () => {
        const claimed = await queue.claim(
          lanes.map(({ appId }) => ({ appId, limit })),
          clock.nowMs(),
        );
        // The lease may have been lost meanwhile, and they with it.
        const own = claimed.filter(({ node }) => node === queue.node);
        this.#needs.lanes.add(own);
        return own;
      });
      const counts = new Map<number, number>();
      for (const { appId } of items) counts.set(appId, (counts.get(appId) ?? 0) + 1);
      for (const [index, lane] of lanes.entries()) {
        if ((counts.get(lane.appId) ?? 0) < limit) {
          lane.seenHints = hints[index] ?? 0;
          lane.nextDueMs = await queue.counts.oldestDueMs(lane.appId);
        }
      }
    } catch (err) {
      log.error({ err }, 'queue not read');
      await clock.sleep(FAILURE_PAUSE_MS).catch(() => {});
    } finally {
      for (const lane of lanes) lane.isClaiming = false;
      this.#needs.onClaimed(lanes);
    }
  }
}
