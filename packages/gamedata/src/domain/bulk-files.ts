import { createHash } from 'node:crypto';
import { constants, createGzip } from 'node:zlib';
import { KINDS, type Kind } from '../model/kinds.js';
import type { ImageLink } from './data/image-links.js';
import { Presenter } from './data/public-record.js';
import { TimeSlices } from './data/time-slices.js';
import type { Edition } from './publication.js';

export type BulkName = `${Kind}.json` | `${Kind}.ndjson` | 'all.json';

export interface BulkFile {
  readonly kind: Kind | 'all';
  readonly format: 'json' | 'ndjson';
  readonly name: BulkName;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly count: number;
  /** Stored compressed, and decompressed for clients that do not accept gzip. */
  readonly gzip: Buffer;
}

/** Limit for compressed files in memory. */
const MAX_SIZE_BYTES = 64 * 1024 * 1024;
const PIECE_LENGTH = 64 * 1024;

export const BULK_NAMES: readonly BulkName[] = [
  ...KINDS.flatMap((kind): BulkName[] => [`${kind}.json`, `${kind}.ndjson`]),
  'all.json',
];

/**
 * Downloadable files with all records of a kind, created on first request. Source: gamedata,
 * section 4.3.
 */
export class BulkFiles {
  readonly #files = new Map<string, Promise<BulkFile>>();
  readonly #sizes = new Map<string, number>();
  readonly #imageLink: ImageLink;

  constructor(imageLink: ImageLink) {
    this.#imageLink = imageLink;
  }

  /** Drops all files; they are created again on the next request. */
  clear(): void {
    this.#files.clear();
    this.#sizes.clear();
  }

  async file(edition: Edition, name: BulkName): Promise<BulkFile> {
    const key = `${edition.version.version}/${name}`;
    let file = this.#files.get(key);
    if (file === undefined) {
      file = makeFile(edition, name, this.#imageLink);
      this.#files.set(key, file);
      file.then(
        ({ gzip }) => this.#keep(key, gzip.length),
        () => this.#files.delete(key),
      );
    }
    return await file;
  }

  #keep(key: string, sizeBytes: number): void {
    this.#sizes.set(key, sizeBytes);
    let total = [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
    for (const [old, size] of this.#sizes) {
      if (total <= MAX_SIZE_BYTES || old === key) break;
      this.#sizes.delete(old);
      this.#files.delete(old);
      total -= size;
    }
  }
}

async function makeFile(edition: Edition, name: BulkName, imageLink: ImageLink): Promise<BulkFile> {
  const dot = name.lastIndexOf('.');
  const kind = name.slice(0, dot) as Kind | 'all'; // ensured by `BulkName`
  const format = name.slice(dot + 1) as 'json' | 'ndjson';
  const hash = createHash('sha256');
  const gzip = createGzip({ level: 6, flush: constants.Z_NO_FLUSH });
  const packed: Buffer[] = [];
  const done = new Promise<void>((resolve, reject) => {
    gzip.on('data', (chunk: Buffer) => packed.push(chunk));
    gzip.once('end', resolve);
    gzip.once('error', reject);
  });
  let sizeBytes = 0;
  let piece = '';
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(piece);
    piece = '';
    sizeBytes += bytes.length;
    hash.update(bytes);
    if (!gzip.write(bytes)) await new Promise((resolve) => gzip.once('drain', resolve));
  };
  for await (const text of textOf(edition, { kind, format, imageLink })) {
    piece += text;
    if (piece.length >= PIECE_LENGTH) await flush();
  }
  await flush();
  gzip.end();
  await done;
  const counts = edition.set.counts();
  const count =
    kind === 'all' ? Object.values(counts).reduce((sum, own) => sum + own, 0) : counts[kind];
  return {
    kind,
    format,
    name,
    sizeBytes,
    sha256: hash.digest('hex'),
    count,
    gzip: Buffer.concat(packed),
  };
}

async function* textOf(
  { set }: Edition,
  options: {
    readonly kind: Kind | 'all';
    readonly format: 'json' | 'ndjson';
    readonly imageLink: ImageLink;
  },
): AsyncGenerator<string> {
  const { kind, format } = options;
  const presenter = new Presenter(set, 'all', options.imageLink);
  const slices = new TimeSlices();
  const kinds = kind === 'all' ? KINDS : [kind];
  if (kind === 'all') yield '{';
  for (const [index, one] of kinds.entries()) {
    if (kind === 'all') yield `${index === 0 ? '' : ','}${JSON.stringify(one)}:`;
    if (format === 'json') yield '[';
    for (const [position, row] of set.tables[one].rows.entries()) {
      const text = JSON.stringify(presenter.present(one, row, true));
      yield format === 'ndjson' ? `${text}\n` : `${position === 0 ? '' : ','}${text}`;
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    if (format === 'json') yield ']';
  }
  if (kind === 'all') yield '}';
}
