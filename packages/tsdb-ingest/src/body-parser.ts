import { decodeBody } from '@plinth/kernel';
import type { ParsedBody, RemoteWriteFormat } from '@plinth/tsdb-model/parsed-body.js';
import { type ColumnMemory, OWN_MEMORY } from './columns/column-memory.js';
import { LineProtocolParser, type ParseOptions } from './line-protocol-parser.js';
import { type ParserLimits, ParserMemory } from './parser-memory.js';
import { RemoteWriteParser } from './prometheus/remote-write-parser.js';
import { decodeSnappy } from './prometheus/snappy.js';

/** Parses bodies of every write format. Series and tables are numbered across the formats. */
export class BodyParser {
  readonly #memory: ParserMemory;
  readonly #lines: LineProtocolParser;
  readonly #remoteWrite: RemoteWriteParser;

  /** See `LineProtocolParser`. */
  constructor(limits: ParserLimits, hashSeed: number) {
    this.#memory = new ParserMemory(limits, hashSeed);
    this.#lines = new LineProtocolParser(limits, hashSeed, this.#memory);
    this.#remoteWrite = new RemoteWriteParser(this.#memory);
  }

  /** Drops all names, to free the memory of unused names. Only between bodies. */
  forget(): void {
    this.#memory.forget();
  }

  /** Throws `body_not_utf8`; all other errors are in the result. */
  parse(
    body: Uint8Array,
    options: ParseOptions & { readonly format?: RemoteWriteFormat },
    memory: ColumnMemory = OWN_MEMORY,
  ): ParsedBody {
    const { database, format } = options;
    return format === undefined
      ? this.#lines.parse(body, options, memory)
      : this.#remoteWrite.parse(body, { database, format }, memory);
  }
}

/** Throws `encoding_unacceptable`, `body_too_large`, `gzip_corrupt`, `snappy_corrupt`. */
export function decodedBody(
  body: Uint8Array,
  { encoding, maxSizeBytes }: { readonly encoding: string; readonly maxSizeBytes: number },
): Uint8Array | Promise<Uint8Array> {
  return encoding === 'snappy'
    ? decodeSnappy(body, maxSizeBytes)
    : decodeBody(body, encoding, maxSizeBytes);
}
