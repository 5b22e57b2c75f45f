import type { Chunk } from '@plinth/line-protocol';
import { linesIn } from './line-chunks.js';

/** Points of a dump and their target database. */
export interface DumpChunk extends Chunk {
  readonly database: string | undefined;
}

/** Maps databases and statements of a dump to ours. `undefined` skips the item. */
export interface DumpNames {
  place(database: string, policy: string): string | undefined;
  statement(text: string): string | undefined;
}

/** Unchanged names; a retention policy becomes `database/policy`. */
const AS_THEY_ARE: DumpNames = {
  place: (database, policy) =>
    policy === '' || policy === 'autogen' || policy === 'default'
      ? database
      : `${database}/${policy}`,
  statement: (text) => text,
};

const HEAD = /^(?:\s*#[^\n]*\n)*?\s*# (?:INFLUXDB EXPORT|DDL|DML|CONTEXT-DATABASE)/;
const CONTEXT = /^# CONTEXT-(DATABASE|RETENTION-POLICY):\s*(.+?)\s*$/;

/** Returns whether a file starts like a dump of `influx_inspect export`, which `influx -import` reads. */
export const isDump = (head: string): boolean => HEAD.test(head);

/**
 * Yields the points of a dump of InfluxDB 1.x. Runs the statements after `# DDL`; lines after `# DML` go to the
 * database and policy of the last `# CONTEXT-DATABASE:` and `# CONTEXT-RETENTION-POLICY:`.
 * @param run runs a statement, after all points before it have been yielded.
 */
export async function* dumpChunks(
  chunks: AsyncIterable<Chunk>,
  run: (statement: string) => Promise<void>,
  names: DumpNames = AS_THEY_ARE,
): AsyncGenerator<DumpChunk> {
  let isDdl = false;
  let database: string | undefined;
  let policy = '';
  for await (const { bytes, fileLineOf } of chunks) {
    let [start, firstLine, pointCount] = [0, 1, 0];
    const upTo = function* (end: number): Generator<DumpChunk> {
      if (pointCount === 0) return;
      const from = firstLine;
      const place = database === undefined ? undefined : names.place(database, policy);
      if (database !== undefined && place === undefined) return;
      yield {
        bytes: bytes.subarray(start, end),
        pointCount,
        fileLineOf: (line) => fileLineOf(from + line - 1),
        database: place,
      };
    };
    for (const line of linesIn(bytes)) {
      const isComment = line.text.startsWith('#');
      if (!isComment && !isDdl) {
        if (line.text !== '') pointCount += 1;
        continue;
      }
      yield* upTo(line.start);
      [start, firstLine, pointCount] = [line.end, line.number + 1, 0];
      if (!isComment) {
        const statement = line.text === '' ? undefined : names.statement(line.text);
        if (statement !== undefined) await run(statement);
      } else if (/^# D[DM]L\b/.test(line.text)) isDdl = line.text.startsWith('# DDL');
      else {
        const [, what, name] = CONTEXT.exec(line.text) ?? [];
        if (what === 'DATABASE') database = name;
        else if (name !== undefined) policy = name;
      }
    }
    yield* upTo(bytes.length);
  }
}
