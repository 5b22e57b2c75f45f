import { type Chunk, linesIn } from './line-chunks.js';

/** Points of a dump, and the database that they are of; a retention policy is `database/policy`. */
export interface DumpChunk extends Chunk {
  readonly database: string | undefined;
}

const HEAD = /^(?:\s*#[^\n]*\n)*?\s*# (?:INFLUXDB EXPORT|DDL|DML|CONTEXT-DATABASE)/;
const CONTEXT = /^# CONTEXT-(DATABASE|RETENTION-POLICY):\s*(.+?)\s*$/;

/** Whether a text begins as those do that `influx_inspect export` writes and `influx -import` reads. */
export const isDump = (head: string): boolean => HEAD.test(head);

/**
 * The points of a dump of InfluxDB 1.x: statements behind `# DDL` are run, and lines behind `# DML` go where the last
 * `# CONTEXT-DATABASE:` and `# CONTEXT-RETENTION-POLICY:` say.
 * @param run runs a statement; all points before it have been handed out by then.
 */
export async function* dumpChunks(
  chunks: AsyncIterable<Chunk>,
  run: (statement: string) => Promise<void>,
): AsyncGenerator<DumpChunk> {
  let isDdl = false;
  let database: string | undefined;
  let policy = '';
  for await (const { bytes, fileLineOf } of chunks) {
    let [start, firstLine, pointCount] = [0, 1, 0];
    const upTo = function* (end: number): Generator<DumpChunk> {
      if (pointCount === 0) return;
      const from = firstLine;
      const isItself = policy === '' || policy === 'autogen' || policy === 'default';
      yield {
        bytes: bytes.subarray(start, end),
        pointCount,
        fileLineOf: (line) => fileLineOf(from + line - 1),
        database: database === undefined || isItself ? database : `${database}/${policy}`,
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
        if (line.text !== '') await run(line.text);
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
