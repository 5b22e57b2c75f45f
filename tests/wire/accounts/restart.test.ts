// Source: docs/formats/accounts.md, "Encrypted text"; accounts, sections 5, 17.3 and 19.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  AccountsServer,
  type HttpResponse,
  type Json,
  temporaryFolder,
} from '../../harness/index.js';

const PATH = '/v2/core/event_destinations';
const URL_OF_RECEIVER = 'http://127.0.0.1:9/acc?key=DESTSECRET1';
const INCLUDE = ['webhook_endpoint.url', 'webhook_endpoint.signing_secret'];
const SHOWN = `include[0]=${INCLUDE[0]}`;

const start = () =>
  AccountsServer.start({ dataDir, flags: ['--accounts-allow-private-targets=127.0.0.0/8'] });

let dataDir: string;
/** Separate server, restarted several times on one data folder. */
let server: AccountsServer;
before(async () => {
  dataDir = await temporaryFolder();
  server = await start();
});
after(() => server.close());

/** Runs a query on the stored data while no other process has the file open. */
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

describe('a data folder', () => {
  const removal = { method: 'DELETE', idempotencyKey: randomUUID() };
  const ada = { given_name: 'Ada', id_numbers: [{ type: 'us_ssn', value: '123456789' }] };
  let destination: Json;
  let persons: string;
  let person: Json;
  let token: Json;
  let removedPath: string;
  let removed: HttpResponse;

  it('contains the address of an event destination in no file', async () => {
    const body = {
      name: 'Target',
      type: 'webhook_endpoint',
      event_payload: 'thin',
      enabled_events: ['*'],
      webhook_endpoint: { url: URL_OF_RECEIVER },
      include: INCLUDE,
    };
    const call = { body, idempotencyKey: randomUUID() };
    destination = await server.ok(PATH, call);
    assert.equal(destination.webhook_endpoint.url, URL_OF_RECEIVER);
    assert.deepEqual(await server.ok(PATH, call), destination, 'a repeat has the same answer');
    const changed = { name: 'Renamed', include: [INCLUDE[0]] };
    await server.ok(`${PATH}/${destination.id}`, { body: changed });
    const stored = await Promise.all(
      (await readdir(dataDir, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(async ({ parentPath, name }) => await readFile(join(parentPath, name), 'latin1')),
    );
    assert.ok(
      stored.some((text) => text.includes(destination.id)),
      'the files are those of the accounts',
    );
    assert.ok(!stored.some((text) => text.includes('DESTSECRET1')));
  });

  it('has a key file for its owner only, and its key is rotated while the server runs', async () => {
    const path = join(dataDir, 'accounts', 'keys.json');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const { id } = await server.create({ identity: { country: 'us' } });
    persons = `/v2/core/accounts/${id}/persons`;
    person = await server.ok(persons, { body: ada });
    const tokens = `/v2/core/accounts/${id}/person_tokens`;
    token = await server.ok(tokens, { body: { surname: 'Kept' } });
    removedPath = `${persons}/${(await server.ok(persons, { body: {} })).id}`;
    removed = await server.send(removedPath, removal);
    const before = await readFile(path, 'utf8');
    const rotated = await server.operate('/rotate_key', {});
    assert.equal(rotated.key, 'k2');
    assert.ok(rotated.rewritten >= 2);
    const keys = JSON.parse(await readFile(path, 'utf8'));
    assert.deepEqual(Object.keys(keys.keys), ['k2']);
    assert.notEqual(keys.keys.k2, JSON.parse(before).keys.k1);
    const shown = await server.ok(`${PATH}/${destination.id}?${SHOWN}`);
    assert.equal(shown.webhook_endpoint.url, URL_OF_RECEIVER);
  });

  it('keeps responses, numbers and tokens after a restart, and encrypts data stored by an earlier version', async () => {
    await server.process.stop();
    const earlier = "update accounts_destinations set body = json_set(body, '$.url', ?)";
    inDatabase(earlier, `${URL_OF_RECEIVER}&old`);
    server = await start();
    const repeated = await server.send(removedPath, removal);
    assert.equal(repeated.text, removed.text);
    assert.equal(repeated.headers['idempotent-replayed'], 'true');
    // Both steps decrypt stored data: the first compares the numbers, the second reads the token.
    const same = await server.ok(`${persons}/${person.id}`, { body: ada });
    assert.equal(same.updated, person.updated);
    const used = await server.ok(persons, { body: { person_token: token.id } });
    assert.equal(used.surname, 'Kept');
    const { data } = await server.ok(`${PATH}?${SHOWN}`);
    assert.equal(data[0].webhook_endpoint.url, `${URL_OF_RECEIVER}&old`);
    await server.process.stop();
    const [body = ''] = inDatabase('select body from accounts_destinations');
    assert.match(body, /"url":"s1\.k2\./);
    assert.ok(!body.includes('DESTSECRET1'));
  });

  it('is not served with a corrupt key file, or without the key file of its data', async () => {
    const path = join(dataDir, 'accounts', 'keys.json');
    const whole = await readFile(path, 'utf8');
    await writeFile(path, whole.replace('"current": "k2"', '"current": "k3"'));
    await assert.rejects(start(), /key file .* is corrupt/);
    await rm(path);
    await assert.rejects(
      start(),
      /key file .* is missing.*restore the file.*start the node that has the file first/,
    );
    await writeFile(path, whole);
    server = await start();
  });
});
