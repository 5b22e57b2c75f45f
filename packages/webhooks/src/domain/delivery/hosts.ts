import type { Hook } from '../../model/hook.js';
import type { AppQueue } from './app-queue.js';
import { type AttemptRate, Breaker } from './host-limits.js';

/**
 * One receiver, identified by its host name, and by its port unless that is the scheme's default. HTTP and HTTPS URLs
 * of a host share one receiver.
 */
export class Host {
  readonly name: string;
  readonly rate: AttemptRate | undefined;
  readonly breaker: Breaker | undefined;
  inflightCount = 0;
  /** App queues that wait for a slot of this host. */
  readonly waiting = new Set<AppQueue>();

  constructor(
    name: string,
    limits: { rate: AttemptRate | undefined; breaker: Breaker | undefined },
  ) {
    this.name = name;
    this.rate = limits.rate;
    this.breaker = limits.breaker;
  }
}

export interface HostLimits {
  readonly makeRate: () => AttemptRate | undefined;
  readonly hasBreaker: boolean;
}

/** Receivers with running attempts, and all receivers with a rate limit or a breaker. */
export class Hosts {
  readonly #limits: HostLimits;
  readonly #hosts = new Map<string, Host>();

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  of(hook: Hook): Host {
    const name = hostName(hook);
    let host = this.#hosts.get(name);
    if (host === undefined) {
      const { makeRate, hasBreaker } = this.#limits;
      host = new Host(name, {
        rate: makeRate(),
        breaker: hasBreaker ? new Breaker() : undefined,
      });
      this.#hosts.set(name, host);
    }
    return host;
  }

  /**
   * Releases a slot after an attempt. A host without running attempts stays in memory only if it
   * has a rate limit or a breaker.
   */
  release(host: Host): void {
    host.inflightCount -= 1;
    if (host.inflightCount === 0 && host.rate === undefined && host.breaker === undefined) {
      this.#hosts.delete(host.name);
    }
  }

  /** Returns the delivery state of the webhook's receiver for operators. */
  describe(hook: Hook): object | undefined {
    if (hook.url === '') return undefined;
    const name = hostName(hook);
    const host = this.#hosts.get(name);
    return {
      host: name,
      inflight: host?.inflightCount ?? 0,
      breaker: host?.breaker?.state ?? (this.#limits.hasBreaker ? 'closed' : 'off'),
    };
  }
}

const hostName = (hook: Hook): string => new URL(hook.url).host;
