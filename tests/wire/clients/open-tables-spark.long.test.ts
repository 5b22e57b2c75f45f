// Source: docs/OPEN-TABLES.md, "Trino and Spark". Own process: it is killed while it publishes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  freePorts,
  pythonWith,
  ServerInProcess,
  ServerProcess,
  temporaryFolder,
} from '../../harness/index.js';
import {
  OPEN_TABLES_FLAGS,
  OpenTablesSession,
  type RunStatement,
  sumsOf,
} from './open-tables-session.js';

const SCRIPT = fileURLToPath(
  new URL('../../../wire/clients/open-tables-spark.py', import.meta.url),
);
const SPARK = { name: 'spark', packages: ['pyspark==4.1.*'], probe: 'import pyspark' };
/** The jar of Iceberg's runtime for this Spark. */
const JAR = process.env['PLINTH_TEST_SPARK_JAR'];
const KILL_COUNT = 6;

/** Starts Spark with two executors. @returns `undefined` (and the test is skipped) if it is not installed. */
async function startSpark(
  context: TestContext,
  address: string,
  token: string,
): Promise<RunStatement | undefined> {
  if (JAR === undefined) {
    context.skip(
      'needs org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0 and Java 17; set PLINTH_TEST_SPARK_JAR to the jar',
    );
    return undefined;
  }
  const python = await pythonWith(SPARK, context);
  if (python === undefined) return undefined;
  const child = spawn(python, [SCRIPT, address, token, JAR], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, SPARK_LOCAL_IP: '127.0.0.1' },
  });
  context.after(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (statement) => {
    child.stdin.write(`${statement}\n`);
    const { value, done } = await lines.next();
    assert.ok(done !== true, 'Spark has failed; see its message above');
    return JSON.parse(value);
  };
}

it('reads the tables like SQL, with two executors of Spark', async (context) => {
  const dataDir = await temporaryFolder();
  const [port] = await freePorts(1);
  const flags = [...OPEN_TABLES_FLAGS, '--http-bind', `127.0.0.1:${port}`];
  let server: ServerInProcess | ServerProcess = await ServerInProcess.start({ dataDir, flags });
  context.after(() => server.close());
  const session = await OpenTablesSession.open(server);
  const run = await startSpark(context, `${server.url}/iceberg`, session.token);
  if (run === undefined) return;
  const table = 'plinth.home__jvm.m';
  const assertEqual = async (): Promise<void> => {
    assert.deepEqual(await run(sumsOf(table, 'string', '`')), [await session.sums()]);
  };

  const sumsBySnapshot = new Map<unknown, readonly unknown[]>();
  await session.changeTable({ hasUnsigned: false }, async () => {
    await assertEqual();
    const [[id] = []] = await run(
      `SELECT CAST(snapshot_id AS string) FROM ${table}.snapshots ORDER BY committed_at DESC LIMIT 1`,
    );
    sumsBySnapshot.set(id, await session.sums());
  });
  assert.equal(sumsBySnapshot.size, 4);
  // Snapshots from before the deletion and the merge can be read to their end.
  for (const [id, sums] of sumsBySnapshot) {
    const statement = sumsOf(`${table} VERSION AS OF ${id}`, 'string', '`');
    assert.deepEqual(await run(statement), [sums], `snapshot ${id}`);
  }

  await server.stop();
  server = await ServerProcess.start({ dataDir, flags });
  session.server = server;
  await assertEqual();
  for (let round = 0; round < KILL_COUNT; round++) {
    const writing = (async () => {
      for (let row = 0; row < 40; row++)
        await session.write([
          `m,tag=k i=${row}i ${1_700_000_100_000_000_000 + round * 1000 + row}`,
        ]);
    })().catch(() => undefined); // the kill interrupts it
    const publishing = session.publish().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 60 + round * 25));
    await (server as ServerProcess).kill();
    await Promise.all([writing, publishing]);
    server = await ServerProcess.start({ dataDir, flags });
    session.server = server;
    await session.publish();
    await assertEqual();
  }
});
