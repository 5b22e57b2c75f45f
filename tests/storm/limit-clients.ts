import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StormClients } from './storm-clients.js';
import { LIMIT, LIMITED_RESOURCE, type StormPlatform } from './storm-platform.js';
import type { Weather } from './weather.js';

const AT_ONCE = 6;
const ASKED_EACH = 15;
const PAUSE_MS = 30;
/** A node that cannot reach Redis does not use it for a second, then retries. */
const AFTERMATH_MS = 5000;

interface Round {
  readonly identity: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly allowed: number;
  /** When each node last logged that it could not reach Redis; the log lines are for readers of a failure. */
  readonly alone: readonly unknown[];
}

/** Exceed the limit of one identity after the other, with requests to all nodes. */
export class LimitClients implements StormClients {
  readonly figures = { checks: 0, limitRounds: 0, exactRounds: 0 };
  readonly #platform: StormPlatform;
  readonly #weather: Weather;
  readonly #rounds: Round[] = [];

  constructor(platform: StormPlatform, weather: Weather) {
    this.#platform = platform;
    this.#weather = weather;
  }

  async run(isOver: () => boolean): Promise<void> {
    for (let number = 1; !isOver(); number++) this.#rounds.push(await this.#ask(`user:${number}`));
  }

  async check(): Promise<void> {
    this.figures.limitRounds = this.#rounds.length;
    for (const { identity, fromMs, toMs, allowed, alone } of this.#rounds) {
      if (this.#weather.wasFault(['redis'], fromMs - AFTERMATH_MS, toMs)) continue;
      this.figures.exactRounds += 1;
      assert.ok(
        allowed <= LIMIT,
        `${identity}: ${allowed} of ${LIMIT} admitted from ${fromMs} to ${toMs}; nodes were without Redis at ${alone.join()}`,
      );
    }
  }

  close(): void {}

  async #ask(identity: string): Promise<Round> {
    const fromMs = Date.now();
    let allowed = 0;
    const body = JSON.stringify({ identity, resource: LIMITED_RESOURCE });
    const askAll = async (): Promise<void> => {
      for (let count = 0; count < ASKED_EACH; count++) {
        const response = await this.#platform.tryOnce('/ops/v1/rate-limits/check', { body });
        this.figures.checks += 1;
        if (response?.status === 200 && JSON.parse(response.text).allowed) allowed += 1;
        await sleep(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askAll));
    const alone = this.#platform.nodes.map(
      ({ server }) => server?.logged('redis is unavailable')?.['time'],
    );
    return { identity, fromMs, toMs: Date.now(), allowed, alone };
  }
}
