// pair-writers.js PATH ROUND WRITER_COUNT: writers that run until killed. Each transaction inserts the two halves of a
// pair, whose name is printed once it has resolved. A writer ends with the kind of its failure.
import { sql } from 'kysely';
import { SystemClock } from '../../clock/system-clock.js';
import { NodeFileSystem } from '../../fs/node-file-system.js';
import { openRelationalStore } from '../sqlite/sqlite-store.js';

const [path = '', round = '', writerCount = ''] = process.argv.slice(2);
const clock = new SystemClock();
const store = await openRelationalStore({ path, clock, fileSystem: new NodeFileSystem() });
await store.transaction(async (tx) => {
  await sql`CREATE TABLE IF NOT EXISTS pairs (name TEXT, half INTEGER, UNIQUE (name, half))`.execute(
    tx,
  );
});

/** A line without an end mark was cut off by the kill. */
const print = (line: string): void => {
  process.stdout.write(`${line};\n`);
};

async function writePairs(writer: number): Promise<void> {
  for (let turn = 0; ; turn++) {
    const name = `${round}-${writer}-${turn}`;
    try {
      await store.transaction(async (tx) => {
        await sql`INSERT INTO pairs VALUES (${name}, 1)`.execute(tx);
        await sql`INSERT INTO pairs VALUES (${name}, 2)`.execute(tx);
      });
    } catch (error) {
      print(`failed ${String(Reflect.get(Object(error), 'kind'))}`);
      return;
    }
    print(name);
  }
}

await Promise.all(Array.from({ length: Number(writerCount) }, (_, writer) => writePairs(writer)));
await store.close().catch(() => {}); // On a full disk, closing may also fail.
