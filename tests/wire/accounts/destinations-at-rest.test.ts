// Source: docs/formats/accounts.md, "Sealed text"; accounts, section 17.3.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AccountsServer } from '../../harness/index.js';

const PATH = '/v2/core/event_destinations';
const URL_OF_RECEIVER = 'http://127.0.0.1:9/acc?key=DESTSECRET1';
const INCLUDE = ['webhook_endpoint.url', 'webhook_endpoint.signing_secret'];
const SHOWN = `include[0]=${INCLUDE[0]}`;

let dataDir: string;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-test-'));
});
after(async () => await rm(dataDir, { recursive: true, force: true }));

const start = () =>
  AccountsServer.start({ dataDir, flags: ['--accounts-allow-private-targets=127.0.0.0/8'] });

/** What is stored of destinations, with nobody else at the file. */
function inDatabase(statement: string, ...values: string[]): string[] {
  const libsql = createRequire(import.meta.url).resolve('libsql');
  const script = `const [path, statement, ...values] = process.argv.slice(1);
    const database = new (require(${JSON.stringify(libsql)}))(path);
    const made = database.prepare(statement);
    console.log(JSON.stringify(statement.startsWith('select') ? made.all(...values) : [made.run(...values)]));
    database.close();`;
  const path = join(dataDir, 'plinth.db');
  const rows = JSON.parse(
    execFileSync(process.execPath, ['-e', script, path, statement, ...values], {
      encoding: 'utf8',
    }),
  ) as { readonly body?: string }[];
  return rows.map(({ body = '' }) => body);
}

describe('the address of a destination of events', () => {
  it('lay in clear in the database, with what its query says', async () => {
    const server = await start();
    const body = {
      name: 'Target',
      type: 'webhook_endpoint',
      event_payload: 'thin',
      enabled_events: ['*'],
      webhook_endpoint: { url: URL_OF_RECEIVER },
      include: INCLUDE,
    };
    const call = { body, idempotencyKey: randomUUID() };
    const made = await server.ok(PATH, call);
    assert.equal(made.webhook_endpoint.url, URL_OF_RECEIVER);
    assert.deepEqual(await server.ok(PATH, call), made, 'a repeated request has the same answer');
    const changed = { name: 'Renamed', include: [INCLUDE[0]] };
    await server.ok(`${PATH}/${made.id}`, { body: changed });
    const stored = await Promise.all(
      (await readdir(dataDir, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(async ({ parentPath, name }) => await readFile(join(parentPath, name), 'latin1')),
    );
    assert.ok(
      stored.some((text) => text.includes(made.id)),
      'the files are those of the accounts',
    );
    assert.ok(!stored.some((text) => text.includes('DESTSECRET1')));
    await server.operate('/rotate_key', {});
    const shown = await server.ok(`${PATH}/${made.id}?${SHOWN}`);
    assert.equal(shown.webhook_endpoint.url, URL_OF_RECEIVER);
    await server.process.stop();
  });

  it('is sealed at the start when an earlier version has stored it', async () => {
    const earlier = "update accounts_destinations set body = json_set(body, '$.url', ?)";
    inDatabase(earlier, `${URL_OF_RECEIVER}&old`);
    const server = await start();
    const { data } = await server.ok(`${PATH}?${SHOWN}`);
    assert.equal(data[0].webhook_endpoint.url, `${URL_OF_RECEIVER}&old`);
    await server.process.stop();
    const [body = ''] = inDatabase('select body from accounts_destinations');
    assert.match(body, /"url":"s1\.k2\./);
    assert.ok(!body.includes('DESTSECRET1'));
  });
});
