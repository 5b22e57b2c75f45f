// Source: docs/OPEN-TABLES.md, "Trino and Spark"; docs/OPEN-TABLES-BUCKET.md, "Read the tables".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bucketFlags, ServerInProcess, startVersitygw, Trino } from '../../harness/index.js';

const FLAGS = ['--services', 'tsdb', '--first-token', 'anyone', '--open-tables-databases', 'home'];
const SUMS =
  'CAST(count(*) AS varchar), CAST(sum(i) AS varchar), sum(f), CAST(min(time_ns) AS varchar), CAST(max(time_ns) AS varchar), CAST(min(i) AS varchar), CAST(max(i) AS varchar), CAST(count(s) AS varchar), max(tag), max("tag__2")';
const SQL =
  'SELECT count(*), sum(i), sum(f), CAST(min(time) AS BIGINT), CAST(max(time) AS BIGINT), min(i), max(i), count(s), max(tag), max("Tag") FROM m';
const SUM_OF_FLOATS = 2;

/** A server with the databases in its folder or in a bucket. */
async function openServer(flags: readonly string[]) {
  const server = await ServerInProcess.start({ flags: [...FLAGS, ...flags] });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  const { token } = JSON.parse(made.text);
  const send = async (path: string, body?: string): Promise<string> => {
    const response = await server.http.send(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    });
    assert.ok(response.status < 300, `${path}: ${response.status} ${response.text}`);
    return response.text;
  };
  const catalog = {
    'connector.name': 'iceberg',
    'iceberg.catalog.type': 'rest',
    'iceberg.rest-catalog.uri': `${server.url}/iceberg`,
    'iceberg.rest-catalog.security': 'OAUTH2',
    'iceberg.rest-catalog.oauth2.token': token,
  };
  return { server, send, catalog };
}

type Opened = Awaited<ReturnType<typeof openServer>>;

async function write({ send }: Opened, lines: readonly string[]): Promise<void> {
  await send('/api/v3/write_lp?db=home&precision=nanosecond', lines.join('\n'));
  await send('/ops/v1/tsdb/open-tables/publish', '{"db":"home"}');
}

async function agree({ send }: Opened, trino: Trino, catalog: string): Promise<void> {
  const csv = await send(`/api/v3/query_sql?db=home&format=csv&q=${encodeURIComponent(SQL)}`);
  const cells = (csv.trim().split('\n')[1] ?? '')
    .split(',')
    .map((cell) => cell.replaceAll('"', ''));
  const [found] = await trino.query(`SELECT ${SUMS} FROM ${catalog}."home__jvm"."m"`);
  assert.deepEqual(
    found,
    cells.map((cell, index) => (index === SUM_OF_FLOATS ? Number(cell) : cell)),
  );
}

it('reads the tables of the folder and of a bucket like SQL, with Trino', async (context) => {
  const store = await startVersitygw(context);
  if (store === undefined) return;
  context.after(() => store[Symbol.asyncDispose]());
  const servers = [await openServer([]), await openServer(bucketFlags(store))];
  context.after(() => Promise.all(servers.map(({ server }) => server.close())));
  const [folder, bucket] = servers.map(({ catalog }) => catalog);
  const trino = await Trino.start(context, {
    folder: { ...folder, 'fs.hadoop.enabled': 'true' },
    bucket: {
      ...bucket,
      'fs.native-s3.enabled': 'true',
      's3.endpoint': store.url,
      's3.path-style-access': 'true',
      's3.region': 'us-east-1',
      's3.aws-access-key': store.key,
      's3.aws-secret-key': store.secret,
    },
  });
  if (trino === undefined) return;
  context.after(() => trino[Symbol.asyncDispose]());
  for (const [index, catalog] of ['folder', 'bucket'].entries()) {
    const opened = servers[index] as Opened; // two servers, two catalogs
    await write(opened, [
      'm,tag=a,Tag=x i=1i,f=0.5,s="one",u=18446744073709551615u -5000000000000000001',
      'm,tag=b i=-9223372036854775808i,f=-0.0,b=true 9223372036854775806',
      'm i=9223372036854775807i,u=1u 1700000000123456789',
      'm,Tag=z s="" 1',
    ]);
    await agree(opened, trino, catalog);
    const remove = {
      predicate: 'tag="b"',
      start: '1677-09-22T00:00:00Z',
      stop: '2262-04-11T00:00:00Z',
    };
    await opened.send('/api/v2/delete?org=o&bucket=home', JSON.stringify(remove));
    await write(opened, ['m,tag=c i=7i,added=1.5 1700000000123456790']);
    await agree(opened, trino, catalog);
    for (let round = 0; round < 9; round++)
      await write(opened, [
        `m,tag=d i=${round}i,f=${round}.25 ${1_700_000_000_200_000_000 + round}`,
      ]);
    await opened.send('/ops/v1/tsdb/storage/compact', '{"db":"home","table":"m"}');
    await opened.send('/ops/v1/tsdb/open-tables/publish', '{"db":"home"}');
    await agree(opened, trino, catalog);
  }
});
