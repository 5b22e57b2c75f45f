import type { BodyReader } from '@plinth/tsdb-engine/write/write-path.js';
import { DEFAULT_LIMITS } from '@plinth/tsdb-ingest/parser-dictionary.js';
import { ParserPool } from '@plinth/tsdb-ingest/workers/parser-pool.js';
import type { TsdbDeps } from '../deps.js';
import { limitsOf } from './open-storage.js';

export function newParserPool({ settings, random }: TsdbDeps): ParserPool {
  const { columnCountPerTable: columnCount, tagCountPerTable: tagCount } = limitsOf(settings);
  return new ParserPool({
    hashSeed: Math.floor(random.float() * 2 ** 32) | 0,
    limits: { ...DEFAULT_LIMITS, line: { columnCount, tagCount } },
  });
}

/** Parses small bodies synchronously. */
export function readerOf(parserPool: ParserPool): BodyReader {
  return {
    read(request) {
      const now = parserPool.parseNow(request.body, request);
      if (now !== undefined) return now;
      // A worker receives the options by structured clone: `access` cannot be cloned, and the
      // worker does not need it.
      const { body, access: _, ...options } = request;
      return parserPool.parse(body, options);
    },
  };
}
