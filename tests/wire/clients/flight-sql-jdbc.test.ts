// Source: tsdb-http, "Flight SQL" and "Client interop". The JDBC driver decides what its calls send.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ServerInProcess } from '../../harness/index.js';

const at = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
/** Kept between test runs, so that the driver is downloaded once. */
const CACHE = at('node_modules/.cache/plinth-jdbc');
const VERSION = '18.3.0';
const DRIVER = join(CACHE, `flight-sql-jdbc-driver-${VERSION}.jar`);
const FETCH_TIMEOUT_MS = 240_000;
const RUN_TIMEOUT_MS = 120_000;

const isInstalled = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

async function run(command: string, args: readonly string[], timeoutMs: number): Promise<string> {
  const child = spawn(command, args, { timeout: timeoutMs });
  let output = '';
  let problems = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    problems += piece;
  });
  const code = await new Promise((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  assert.equal(code, 0, `${command}\n${output}\n${problems}`);
  return output;
}

/** Returns false and skips the test when Java or its packages are unavailable. */
async function hasDriver(context: TestContext): Promise<boolean> {
  if (!isInstalled('java', '-version') || !isInstalled('mvn', '-version')) {
    context.skip('needs java and mvn');
    return false;
  }
  if (existsSync(DRIVER)) return true;
  const partial = join(CACHE, 'partial');
  await mkdir(partial, { recursive: true });
  try {
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';
    const artifact = `org.apache.arrow:flight-sql-jdbc-driver:${VERSION}`;
    const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${partial}`];
    await run('mvn', ['-q', '-B', goal, ...options], FETCH_TIMEOUT_MS);
    await rename(join(partial, `flight-sql-jdbc-driver-${VERSION}.jar`), DRIVER);
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').slice(-3).join(' ') : '';
    context.skip(`the driver of JDBC cannot be fetched: ${reason}`);
    return false;
  }
}

it('F-02 the driver of JDBC binds parameters of every type and knows the server', async (context) => {
  if (!(await hasDriver(context))) return;
  await using server = await ServerInProcess.start({ flags: [] });
  const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  const { token } = JSON.parse(created.text) as { token: string };
  const body = [
    'kinds,t=a i=5i,f=1.5,b=true,s="hällo" 1700000000123',
    'kinds,t=a i=9223372036854775807i,f=9,b=false,s="" 1700000000124',
  ].join('\n');
  const headers = { authorization: `Bearer ${token}` };
  await server.http.send('/api/v3/write_lp?db=jdbc&precision=millisecond', { body, headers });
  const address = new URL(server.url).host;
  const settings = `useEncryption=false&user=any&password=${token}&database=jdbc`;
  const output = await run(
    'java',
    [
      '--add-opens=java.base/java.nio=ALL-UNNAMED',
      '-cp',
      DRIVER,
      at('tests/harness/java/JdbcParameters.java'),
      `jdbc:arrow-flight-sql://${address}?${settings}`,
    ],
    RUN_TIMEOUT_MS,
  );
  assert.deepEqual(output.split('\n').slice(0, -1), [
    '5;',
    '9223372036854775807;',
    '1.5;',
    '1.5;9.0;',
    '1.5;9.0;',
    'true;',
    'hällo;',
    'a;',
    '5;',
    '0;',
    '2020-02-03;',
    '5;',
    'text;',
    '10:11:12;',
    'hällo;',
    'all facts',
  ]);
});
