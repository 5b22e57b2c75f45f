import { hash } from 'node:crypto';
import { Memo } from '@plinth/kernel';

const MAX_ENDPOINT_COUNT = 100_000;

/**
 * Names of the keys in Redis. All keys of an identity carry it as their hash tag, so that they lie in one slot of a
 * cluster. Source: rate-limits, section 14.2.
 */
export class LimitKeys {
  readonly prefix: string;
  /** A sorted set: who is banned, by the end of the ban. */
  readonly bans: string;
  /** A sorted set: nodes that share the counters, by when they spoke last. */
  readonly nodes: string;
  readonly #endpointHashes = new Memo<string, string>({ maxCount: MAX_ENDPOINT_COUNT });

  constructor(prefix: string) {
    this.prefix = prefix;
    this.bans = `${prefix}bans`;
    this.nodes = `${prefix}nodes`;
  }

  /** What every key of an identity begins with. */
  own(identity: string): string {
    return `${this.prefix}{${identity}}:`;
  }

  /** One key of an identity: `ban`, `c` (slots), `p:core`... */
  of(identity: string, part: string): string {
    return this.own(identity) + part;
  }

  /** The identity that `of` made a key for. */
  identityOf(key: string, part: string): string {
    return key.slice(this.prefix.length + 1, -`}:${part}`.length);
  }

  /** Clients may name what they like; keys stay short. */
  endpointHash(endpoint: string): string {
    return this.#endpointHashes.of(endpoint, shortHash);
  }
}

const shortHash = (endpoint: string): string => hash('sha1', endpoint, 'base64url').slice(0, 16);
