// Source: docs/OPEN-TABLES.md, "Trino and Spark"; docs/OPEN-TABLES-BUCKET.md, "Read the tables".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bucketFlags, ServerInProcess, startVersitygw, Trino } from '../../harness/index.js';
import {
  OPEN_TABLES_FLAGS,
  OpenTablesSession,
  sumsOf,
  trinoBucket,
  trinoCatalog,
} from './open-tables-session.js';

/** A server with the tables in its folder or in a bucket, and the catalog's properties. */
async function openServer(flags: readonly string[]) {
  const server = await ServerInProcess.start({ flags: [...OPEN_TABLES_FLAGS, ...flags] });
  const session = await OpenTablesSession.open(server);
  return { server, session, catalog: trinoCatalog(server, session.token) };
}

it('reads the tables of the folder and of a bucket like SQL, with Trino', async (context) => {
  const store = await startVersitygw(context);
  if (store === undefined) return;
  context.after(() => store[Symbol.asyncDispose]());
  const folder = await openServer([]);
  context.after(() => folder.server.close());
  const bucket = await openServer(bucketFlags(store));
  context.after(() => bucket.server.close());
  const trino = await Trino.start(context, {
    folder: { ...folder.catalog, 'fs.hadoop.enabled': 'true' },
    bucket: { ...bucket.catalog, ...trinoBucket(store) },
  });
  if (trino === undefined) return;
  context.after(() => trino[Symbol.asyncDispose]());
  for (const [catalog, { session }] of Object.entries({ folder, bucket })) {
    const statement = sumsOf(`${catalog}."home__jvm"."m"`, 'varchar', '"');
    await session.changeTable({ hasUnsigned: true }, async () => {
      assert.deepEqual(await trino.query(statement), [await session.sums()]);
    });
  }
});
