import { decodeBody } from '@plinth/kernel';
import type { MessageFormat, ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import { type ColumnAllocator, HEAP_ALLOCATOR } from './columns/column-allocator.js';
import { LineProtocolParser, type ParseOptions } from './line-protocol-parser.js';
import { MetricsParser } from './otlp/metrics-parser.js';
import { ParserDictionary, type ParserLimits } from './parser-dictionary.js';
import { RemoteWriteParser } from './prometheus/remote-write-parser.js';
import { decodeSnappy } from './prometheus/snappy.js';

/** Parses bodies of every write format. Series and tables are numbered across the formats. */
export class BodyParser {
  readonly #dictionary: ParserDictionary;
  readonly #lines: LineProtocolParser;
  readonly #remoteWrite: RemoteWriteParser;
  readonly #metrics: MetricsParser;

  /** See `LineProtocolParser`. */
  constructor(limits: ParserLimits, hashSeed: number) {
    this.#dictionary = new ParserDictionary(limits, hashSeed);
    this.#lines = new LineProtocolParser(limits, hashSeed, this.#dictionary);
    this.#remoteWrite = new RemoteWriteParser(this.#dictionary);
    this.#metrics = new MetricsParser(this.#dictionary);
  }

  /** Clears all tables, fields and series to free memory. Call only between bodies. */
  clear(): void {
    this.#dictionary.clear();
  }

  /** Throws `body_not_utf8`; all other errors are in the result. */
  parse(
    body: Uint8Array,
    options: ParseOptions & { readonly format?: MessageFormat },
    allocator: ColumnAllocator = HEAP_ALLOCATOR,
  ): ParsedBody {
    const { database, format } = options;
    switch (format) {
      case undefined:
        return this.#lines.parse(body, options, allocator);
      case 'otlp_metrics':
      case 'otlp_metrics_json':
        return this.#metrics.parse(body, { database, format }, allocator);
      default:
        return this.#remoteWrite.parse(body, { database, format }, allocator);
    }
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
