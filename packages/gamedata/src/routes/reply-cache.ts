import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gunzip, gzip } from 'node:zlib';
import { type HeaderList, type HttpResponse, invariant, Memo, namesTag } from '@plinth/kernel';
import type { Coding } from './negotiation.js';

/** A cached reply: its headers, and its bytes in every coding requested so far. */
export interface Reply {
  /** Dropped when a stored coding can be decompressed instead. */
  body: Buffer | undefined;
  readonly bodySize: number;
  /** Without quotes and coding suffix. */
  readonly etag: string;
  /** All headers that do not depend on the coding. */
  readonly headers: HeaderList;
  /** `undefined` when no date identifies this reply uniquely. */
  readonly lastModifiedMs: number | undefined;
  /** `undefined` if not requested yet; `null` if not smaller than the body. */
  readonly coded: { br?: Coded | null; gzip?: Coded | null; identity?: Coded };
}

/** One coding of a reply, ready to send. */
export interface Coded {
  readonly bytes: Buffer;
  /** The same object as long as the reply is cached. */
  readonly whole: HttpResponse;
  /** The 304 response. Created on first use, since most replies are requested once. */
  unchanged?: HttpResponse;
}

/** Smaller bodies are not worth compressing. */
const MIN_CODED_SIZE_BYTES = 1024;
const MAX_URL_COUNT = 4096;
/** Memory of an entry in addition to its bytes. */
const ENTRY_OVERHEAD_BYTES = 2048;

const LEVELS = {
  thorough: { br: 9, gzip: 9 },
  quick: { br: 5, gzip: 6 },
} as const;

const brotliInPool = promisify(brotliCompress);
const gzipInPool = promisify(gzip);
const unbrotliInPool = promisify(brotliDecompress);
const gunzipInPool = promisify(gunzip);

/**
 * Caches replies of the current version by canonical URL, which avoids building and compressing
 * them again. A second index by literal URL avoids parsing.
 * The least recently used replies are evicted.
 */
export class ReplyCache {
  readonly #limitBytes: number;
  readonly #byKey = new Map<string, Reply>();
  readonly #byUrl = new Memo<string, Reply>({ maxCount: MAX_URL_COUNT });
  /** Bytes compressed in advance, by tag and coding. Most of them stay valid in a new version. */
  #thorough = new Map<string, Buffer>();
  #thoroughBefore: ReadonlyMap<string, Buffer> = new Map();
  #sizeBytes = 0;
  /** Size at which each cached reply is counted. */
  #counted = new WeakMap<Reply, number>();
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
    // Moves the reply to the end, as the most recently used.
    this.#byKey.delete(key);
    this.#byKey.set(key, reply);
    return reply;
  }

  put(key: string, url: string, reply: Reply): void {
    if (reply.bodySize + ENTRY_OVERHEAD_BYTES > this.#limitBytes / 4) return;
    const before = this.#byKey.get(key);
    if (before !== undefined) this.#uncount(before);
    this.#byKey.set(key, reply);
    this.#counted.set(reply, 0);
    this.remember(url, reply);
    this.#count(reply);
  }

  remember(url: string, reply: Reply): void {
    this.#byUrl.set(url, reply);
  }

  clear(): void {
    // A second publication may come before any reply is compressed in advance.
    if (this.#thorough.size > 0) this.#thoroughBefore = this.#thorough;
    this.#thorough = new Map();
    this.#byKey.clear();
    this.#byUrl.clear();
    this.#counted = new WeakMap();
    this.#sizeBytes = 0;
  }

  /**
   * Returns a reply in a coding, compressing it on first use. `isThorough` selects the slower
   * compression used in advance.
   */
  async code(reply: Reply, coding: Coding, isThorough = false): Promise<Coded> {
    const ready = readyCoding(reply, coding);
    if (ready !== undefined) return ready;
    const body = await this.#unpack(reply);
    if (coding === 'identity') return identityOf(reply, body);
    const name = `${reply.etag}/${coding}`;
    const cached = this.#thorough.get(name) ?? this.#thoroughBefore.get(name);
    const bytes = cached ?? (await compress(body, coding, isThorough));
    // Responses with the same ETag must be byte-identical, so use the body that another request compressed in the meantime.
    const encoded = readyCoding(reply, coding);
    if (encoded !== undefined) return encoded;
    if (isThorough) this.#thorough.set(name, bytes);
    if (bytes.length >= body.length) {
      reply.coded[coding] = null;
      return identityOf(reply, body);
    }
    const suffix = coding === 'br' ? '-br' : '-gz';
    const coded = codedOf(reply, bytes, suffix, [['content-encoding', coding]]);
    reply.coded[coding] = coded;
    // Nearly all clients accept a coding. For all other clients, the body is decompressed and then cached.
    if (!isThorough && reply.coded.identity === undefined) reply.body = undefined;
    this.#count(reply);
    return coded;
  }

  async #unpack(reply: Reply): Promise<Buffer> {
    if (reply.body !== undefined) return reply.body;
    const { br, gzip: gz } = reply.coded;
    const packed = br ?? gz;
    invariant(packed, 'a reply without a body must have a content coding');
    const body = await (br ? unbrotliInPool(packed.bytes) : gunzipInPool(packed.bytes));
    reply.body = body;
    this.#count(reply);
    return body;
  }

  /** Updates the counted size of a reply. */
  #count(reply: Reply): void {
    const before = this.#counted.get(reply);
    if (before === undefined) return; // no longer cached
    const { br, gzip: gz } = reply.coded;
    const coded = (br?.bytes.length ?? 0) + (gz?.bytes.length ?? 0);
    const plain = reply.coded.identity?.bytes ?? reply.body;
    const size = ENTRY_OVERHEAD_BYTES + (plain?.length ?? 0) + coded;
    this.#counted.set(reply, size);
    this.#sizeBytes += size - before;
    this.#shrink();
  }

  #uncount(reply: Reply): void {
    this.#sizeBytes -= this.#counted.get(reply) ?? 0;
    this.#counted.delete(reply);
  }

  #shrink(): void {
    for (const [key, reply] of this.#byKey) {
      if (this.#sizeBytes <= this.#limitBytes) return;
      this.#byKey.delete(key);
      this.#uncount(reply);
      // URLs are not tracked per reply, so the URL index is cleared.
      this.#byUrl.clear();
    }
  }
}

function identityOf(reply: Reply, body: Buffer): Coded {
  reply.coded.identity ??= codedOf(reply, body, '', []);
  return reply.coded.identity;
}

function codedOf(
  { headers, etag }: Reply,
  bytes: Buffer,
  suffix: '' | '-br' | '-gz',
  own: HeaderList,
): Coded {
  const all: HeaderList = [...headers, ['etag', `"${etag}${suffix}"`], ...own];
  return { bytes, whole: { status: 200, headers: all, body: bytes } };
}

/** Returns an existing coding, or `undefined` when it has to be created. */
export function readyCoding(reply: Reply, coding: Coding): Coded | undefined {
  const isPlain = coding === 'identity' || reply.bodySize < MIN_CODED_SIZE_BYTES;
  const known = isPlain ? null : reply.coded[coding];
  if (known !== null) return known;
  return reply.coded.identity ?? (reply.body && identityOf(reply, reply.body));
}

async function compress(body: Buffer, coding: 'br' | 'gzip', isThorough: boolean): Promise<Buffer> {
  const level = LEVELS[isThorough ? 'thorough' : 'quick'];
  if (coding === 'gzip') return await gzipInPool(body, { level: level.gzip });
  return await brotliInPool(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: level.br,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      // A window of the body's size compresses as well as a window of megabytes, which would have
      // to be cleared each time.
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

/**
 * Whether `If-None-Match` contains this reply's tag, with any coding suffix; compressing proxies
 * add their own.
 */
export const isNamedBy = (header: string, etag: string): boolean =>
  namesTag(header.replaceAll(/("[\w-]{22})-[A-Za-z]{1,8}"/g, '$1"'), `"${etag}"`);
