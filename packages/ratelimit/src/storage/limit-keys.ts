import { hash } from 'node:crypto';
import { Memo } from '@plinth/kernel';

const MAX_ENDPOINT_COUNT = 100_000;

/**
 * Names of the Redis keys. All keys of an identity have the same hash tag, so that a cluster stores
 * them in one slot.
 * Source: rate-limits, section 14.2.
 */
export class LimitKeys {
  readonly prefix: string;
  /** Sorted set of banned identities, scored by the end of the ban. */
  readonly bans: string;
  /** Sorted set of nodes that share the counters, scored by their last heartbeat. */
  readonly nodes: string;
  readonly #endpointHashes = new Memo<string, string>({ maxCount: MAX_ENDPOINT_COUNT });

  constructor(prefix: string) {
    this.prefix = prefix;
    this.bans = `${prefix}bans`;
    this.nodes = `${prefix}nodes`;
  }

  /** Returns the common prefix of an identity's keys. */
  own(identity: string): string {
    return `${this.prefix}{${identity}}:`;
  }

  /** Returns one key of an identity: `ban`, `c` (slots), `p:core`... */
  of(identity: string, part: string): string {
    return this.own(identity) + part;
  }

  /** Extracts the identity from a key made by `of`. */
  identityOf(key: string, part: string): string {
    return key.slice(this.prefix.length + 1, -`}:${part}`.length);
  }

  /** Hashed, because clients choose endpoint names and keys must stay short. */
  endpointHash(endpoint: string): string {
    return this.#endpointHashes.of(endpoint, shortHash);
  }
}

const shortHash = (endpoint: string): string => hash('sha1', endpoint, 'base64url').slice(0, 16);
