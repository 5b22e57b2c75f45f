import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Coding } from './negotiation.js';

/** A finished reply: its bytes, in every coding that was asked for so far, and its headers. */
export interface Reply {
  readonly body: Buffer;
  /** Without quotes and suffix. */
  readonly etag: string;
  /** All but those that depend on the coding. */
  readonly headers: Readonly<Record<string, string>>;
  readonly lastModifiedMs: number;
  /** `undefined`: not asked for yet. `null`: not smaller than the body. */
  readonly coded: { br?: Coded | null; gzip?: Coded | null; identity?: Coded };
}

/** One coding of a reply, ready to be sent. */
export interface Coded {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string | number>>;
}

/** Smaller bodies do not gain from being compressed. */
const MIN_CODED_SIZE_BYTES = 1024;
const MAX_URL_COUNT = 4096;
/** What an entry costs beside its bytes. */
const ENTRY_OVERHEAD_BYTES = 2048;

const LEVELS = {
  thorough: { br: 9, gzip: 9 },
  quick: { br: 5, gzip: 6 },
} as const;

const brotliInPool = promisify(brotliCompress);
const gzipInPool = promisify(gzip);

/**
 * Replies of the current version by canonical URL, so that what is asked for again is neither made nor compressed
 * again; and by the URL as written, so that it is not even parsed again. The least recently used go first.
 */
export class ReplyCache {
  readonly #limitBytes: number;
  readonly #byKey = new Map<string, Reply>();
  readonly #byUrl = new Map<string, Reply>();
  /** What was made in advance, by tag and coding: a new version leaves most of it as it is. */
  #thorough = new Map<string, Buffer>();
  #thoroughBefore: ReadonlyMap<string, Buffer> = new Map();
  #sizeBytes = 0;
  hits = 0;
  misses = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  byUrl(url: string): Reply | undefined {
    const reply = this.#byUrl.get(url);
    if (reply !== undefined) this.hits += 1;
    return reply;
  }

  byKey(key: string): Reply | undefined {
    const reply = this.#byKey.get(key);
    if (reply === undefined) {
      this.misses += 1;
      return undefined;
    }
    this.hits += 1;
    // Used last, forgotten last.
    this.#byKey.delete(key);
    this.#byKey.set(key, reply);
    return reply;
  }

  put(key: string, url: string, reply: Reply): void {
    const cost = reply.body.length + ENTRY_OVERHEAD_BYTES;
    if (cost > this.#limitBytes / 4) return;
    if (!this.#byKey.has(key)) this.#sizeBytes += cost;
    this.#byKey.set(key, reply);
    this.remember(url, reply);
    this.#shrink();
  }

  remember(url: string, reply: Reply): void {
    if (this.#byUrl.size >= MAX_URL_COUNT) this.#byUrl.clear();
    this.#byUrl.set(url, reply);
  }

  clear(): void {
    // Two versions may follow each other before anything is made in advance.
    if (this.#thorough.size > 0) this.#thoroughBefore = this.#thorough;
    this.#thorough = new Map();
    this.#byKey.clear();
    this.#byUrl.clear();
    this.#sizeBytes = 0;
  }

  /** The reply in a coding; compresses when asked for the first time. `isThorough` is for what is made in advance. */
  async code(reply: Reply, coding: Coding, isThorough = false): Promise<Coded> {
    if (coding === 'identity' || reply.body.length < MIN_CODED_SIZE_BYTES) return identityOf(reply);
    const known = reply.coded[coding];
    if (known !== undefined) return known ?? identityOf(reply);
    const name = `${reply.etag}/${coding}`;
    const kept = this.#thorough.get(name) ?? this.#thoroughBefore.get(name);
    const bytes = kept ?? (await compress(reply.body, coding, isThorough));
    if (isThorough) this.#thorough.set(name, bytes);
    if (bytes.length >= reply.body.length) {
      reply.coded[coding] = null;
      return identityOf(reply);
    }
    const suffix = coding === 'br' ? '-br' : '-gz';
    const coded: Coded = {
      bytes,
      headers: {
        ...reply.headers,
        etag: `"${reply.etag}${suffix}"`,
        'content-encoding': coding,
        'content-length': bytes.length,
      },
    };
    reply.coded[coding] = coded;
    this.#sizeBytes += bytes.length;
    this.#shrink();
    return coded;
  }

  #shrink(): void {
    for (const [key, reply] of this.#byKey) {
      if (this.#sizeBytes <= this.#limitBytes) return;
      this.#byKey.delete(key);
      const { br, gzip: gz } = reply.coded;
      this.#sizeBytes -=
        reply.body.length +
        ENTRY_OVERHEAD_BYTES +
        (br?.bytes.length ?? 0) +
        (gz?.bytes.length ?? 0);
      // URLs that lead to it are forgotten together: which ones they are is not kept.
      this.#byUrl.clear();
    }
  }
}

export function identityOf(reply: Reply): Coded {
  reply.coded.identity ??= {
    bytes: reply.body,
    headers: {
      ...reply.headers,
      etag: `"${reply.etag}"`,
      'content-length': reply.body.length,
    },
  };
  return reply.coded.identity;
}

/** Coding that is there already, or `undefined` when it has to be made. */
export function readyCoding(reply: Reply, coding: Coding): Coded | undefined {
  if (coding === 'identity' || reply.body.length < MIN_CODED_SIZE_BYTES) return identityOf(reply);
  const known = reply.coded[coding];
  return known === null ? identityOf(reply) : known;
}

async function compress(body: Buffer, coding: 'br' | 'gzip', isThorough: boolean): Promise<Buffer> {
  const level = LEVELS[isThorough ? 'thorough' : 'quick'];
  if (coding === 'gzip') return await gzipInPool(body, { level: level.gzip });
  return await brotliInPool(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: level.br,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      // A window as large as the body finds as much as one of megabytes, which would have to be cleared each time.
      [constants.BROTLI_PARAM_LGWIN]: windowBits(body.length),
    },
  });
}

const windowBits = (size: number): number =>
  Math.min(
    Math.max(Math.ceil(Math.log2(size + 1)), constants.BROTLI_MIN_WINDOW_BITS),
    constants.BROTLI_DEFAULT_WINDOW,
  );

const ETAG_LENGTH = 22;

export function etagOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, ETAG_LENGTH);
}

/** Whether `If-None-Match` names this reply, in whatever coding: proxies that code put suffixes of their own. */
export function isNamedBy(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  return header.split(',').some((part) => {
    const tag = part.trim().replace(/^W\//, '');
    if (!tag.startsWith(`"${etag}`)) return false;
    return /^(-[A-Za-z]{1,8})?"$/.test(tag.slice(etag.length + 1));
  });
}
