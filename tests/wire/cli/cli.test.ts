// Source: `plinth --help`, and tsdb-http sections 4, 7, 8 and 17 for the responses of the server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { CLI, runCli } from '../../harness/cli.js';
import { type OwnServer, ServerInProcess, temporaryFolder } from '../../harness/index.js';

let server: OwnServer;
let folder: string;

before(async () => {
  server = await ServerInProcess.start();
  folder = await temporaryFolder();
});
after(() => server.close());

const cli = (db: string, ...args: readonly string[]) => {
  const [command = '', ...rest] = args;
  return runCli([command, '--host', server.url, '--database', db, ...rest]);
};

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

async function csv(db: string, q: string): Promise<string> {
  const { code, stdout, stderr } = await cli(db, 'query', '--format', 'csv', q);
  assert.equal(code, 0, stderr);
  return stdout;
}

describe('plinth write', () => {
  it('writes files, gzip files and standard input', async () => {
    const plain = await file('a.lp', 'm,f=a v=1 1\nm,f=a v=2 2\n');
    const zipped = await file('b.dat', gzipSync('m,f=b v=3 1\n'));
    const fromFiles = await cli('w1', 'write', '--precision', 's', plain, zipped);
    assert.equal(fromFiles.code, 0, fromFiles.stderr);
    assert.match(fromFiles.stderr, /^wrote 3 lines \(/);
    const fromStdin = await runCli(['write', '--precision', 's'], {
      input: 'm,f=c v=4 1\n# a comment\n\n',
      env: { PLINTH_HOST_URL: server.url, INFLUXDB3_DATABASE_NAME: 'w1' },
    });
    assert.equal(fromStdin.code, 0, fromStdin.stderr);
    assert.match(fromStdin.stderr, /^wrote 1 line \(/);
    assert.equal(
      await csv('w1', 'SELECT f, time, v FROM m ORDER BY f, time'),
      'f,time,v\na,1970-01-01T00:00:01,1.0\na,1970-01-01T00:00:02,2.0\n' +
        'b,1970-01-01T00:00:01,3.0\nc,1970-01-01T00:00:01,4.0\n',
    );
  });

  it('reports refused lines by line number in the file', async () => {
    const filler = 'x'.repeat(1000);
    const lines = Array.from(
      { length: 6000 },
      (_, index) => `big v=${index}i,s="${filler}" ${index}`,
    );
    lines[10] = 'big v="no number" 10';
    lines[5500] = 'big';
    const path = await file('big.lp', lines.join('\n'));
    const { code, stderr } = await cli('w2', 'write', '--precision', 'ns', path);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /big\.lp:11: invalid column type for column 'v', expected iox::column_type::field::integer, got iox::column_type::field::string\n/,
    );
    assert.match(stderr, /big\.lp:5501: Expected at least one space character, got end of input\n/);
    assert.match(stderr, /wrote 5998 lines, rejected 2 \(/);
    assert.equal(await csv('w2', 'SELECT count(*) AS n FROM big'), 'n\n5998\n');
  });

  it('writes CSV with a column mapping and reports rows that do not fit', async () => {
    const path = await file(
      'daily.csv',
      'day,kind,low,high,note\n2012-01-01,rain,5,12.8,"wet, cold"\n2012-01-02,sun,oops,9,\n2012-01-03,sun,1,8.5,"say ""hi"""\n2012-01-04,sun,2\n',
    );
    const mapping = ['--csv', '--table', 'daily', '--tag', 'kind', '--time', 'day'];
    const fields = ['--field', 'low:int,high:float,note:string'];
    const { code, stderr } = await cli('w3', 'write', ...mapping, ...fields, path);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /daily\.csv:3: column 'low': 'oops' is not a valid int\nrows with fewer values than columns \(missing values are empty\): 1\nwrote 3 lines, rejected 1 \(/,
    );
    assert.equal(
      await csv('w3', 'SELECT high, kind, low, note, time FROM daily ORDER BY time'),
      'high,kind,low,note,time\n12.8,rain,5,"wet, cold",2012-01-01T00:00:00\n8.5,sun,1,"say ""hi""",2012-01-03T00:00:00\n,sun,2,,2012-01-04T00:00:00\n',
    );
  });

  it('accepts column names with commas, and files with semicolons', async () => {
    const path = await file('odd.csv', 'day;"a,b";c\\d;e:f\n2012-01-01;x;y;5\n');
    const tags = ['--tag', 'a\\,b,c\\\\d'];
    const mapping = ['--csv', '--table', 'odd', ...tags, '--field', 'e:f:int', '--time', 'day'];
    const { code, stderr } = await cli('w3', 'write', ...mapping, path);
    assert.equal(code, 0, stderr);
    assert.equal(
      await csv('w3', 'SELECT "a,b", "c\\d", "e:f" FROM odd'),
      '"a,b",c\\d,e:f\nx,y,5\n',
    );
    const copy = await file('odd-copy.csv', 'time,"a,b",n\n1,x,5\n');
    const imported = await cli('w3', 'import', '--table', 'copy', '--tag', 'a\\,b', copy);
    assert.equal(imported.code, 0, imported.stderr);
    assert.equal(await csv('w3', 'SELECT "a,b", n FROM copy'), '"a,b",n\nx,5\n');
  });

  it('counts all refused lines, although the server lists only a thousand', async () => {
    const path = await file('untaken.lp', 'm\n'.repeat(1500));
    const { code, stderr } = await cli('w0', 'write', path);
    assert.equal(code, 1);
    assert.match(stderr, /wrote 0 lines, rejected 1500 \(/);
  });

  it('rejects complete chunks with --no-accept-partial', async () => {
    const path = await file('bad.lp', 'm v=1 1\nm\n');
    const { code, stderr } = await cli('w4', 'write', '--no-accept-partial', path);
    assert.equal(code, 1);
    assert.match(stderr, /bad\.lp:2: .*\n.*\nwrote 0 lines, rejected 2 \(/);
  });

  it('reports invalid arguments', async () => {
    const unnamed = await runCli(['write', '--host', server.url], { input: 'm v=1\n' });
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.stderr, /no database given; use --database <name>/);
    const missing = await cli('w5', 'write', join(folder, 'none.lp'));
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /cannot read .*none\.lp: ENOENT/);
  });
});

describe('plinth query', () => {
  before(async () => {
    const path = await file('q.lp', 'air,room=Kitchen temp=21.5 1\nair,room=Bath temp=19 2\n');
    assert.equal((await cli('q', 'write', '--precision', 's', path)).code, 0);
  });

  it('prints a table, and other formats on request', async () => {
    const q = 'SELECT room, temp FROM air ORDER BY room';
    const pretty = await cli('q', 'query', q);
    assert.equal(pretty.code, 0, pretty.stderr);
    assert.equal(
      pretty.stdout,
      '+---------+------+\n| room    | temp |\n+---------+------+\n| Bath    | 19.0 |\n| Kitchen | 21.5 |\n+---------+------+\n',
    );
    const jsonl = await cli('q', 'query', '--format', 'jsonl', q);
    assert.equal(jsonl.stdout, '{"room":"Bath","temp":19.0}\n{"room":"Kitchen","temp":21.5}\n');
    const rows = await cli('q', 'query', '--format', 'json_rows', q);
    assert.equal(rows.stdout, '[{"room":"Bath","temp":19.0},{"room":"Kitchen","temp":21.5}]\n');
  });

  it('reads the query from a file or standard input, with parameter values', async () => {
    const path = await file('q.sql', 'SELECT temp FROM air WHERE room = $room AND temp > $low\n');
    const fromFile = ['--file', path, '--param', 'room=Kitchen', '--param', 'low=20.5'];
    const { stdout, stderr } = await cli('q', 'query', '--format', 'csv', ...fromFile);
    assert.equal(stdout, 'temp\n21.5\n', stderr);
    const piped = await runCli(['query', '-H', server.url, '-d', 'q', '-f', 'csv'], {
      input: 'SELECT count(*) AS n FROM air',
    });
    assert.equal(piped.stdout, 'n\n2\n', piped.stderr);
  });

  it('writes the result to a file', async () => {
    const path = join(folder, 'out.parquet');
    const { code, stdout, stderr } = await cli(
      'q',
      'query',
      '-f',
      'parquet',
      '-o',
      path,
      'SELECT * FROM air',
    );
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '');
    const bytes = await readFile(path);
    assert.equal(bytes.subarray(0, 4).toString(), 'PAR1');
    assert.equal(bytes.subarray(-4).toString(), 'PAR1');
  });

  it('shows the error message of the server for an invalid query', async () => {
    const { code, stderr, stdout } = await cli('q', 'query', 'SELECT * FROM nowhere');
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      /^plinth: the server returned 400: Error during planning: table 'public\.iox\.nowhere' not found\n$/,
    );
  });
});

it('plinth suggests a fix when the connection is refused', async () => {
  // Port 9 (discard) is served nowhere by default, and fetch does not block it.
  const { code, stderr } = await runCli(['status', '--host', 'http://127.0.0.1:59999']);
  assert.equal(code, 3);
  assert.match(
    stderr,
    /cannot reach http:\/\/127\.0\.0\.1:59999: connection refused\n {2}Is the server running\?/,
  );
});

it('plinth exits with 2 on wrong usage and 0 for help and version', async () => {
  const code = async (...args: string[]) => (await runCli(args)).code;
  assert.equal(await code('nonsense'), 2);
  assert.equal(await code('query', '--nonsense'), 2);
  assert.equal(await code('serve', '--http-bind', 'nonsense'), 2);
  assert.equal(await code('--help'), 0);
  assert.equal(await code('write', '--help'), 0);
  const { stdout: help } = await runCli(['serve', '--help-all']);
  assert.match(help, /--rate-limit-services <value> .*\(default: \{\}\)/);
  assert.doesNotMatch(help, /\[object/);
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await runCli(['completion', shell]);
    assert.match(stdout, /plinth/);
    assert.match(stdout, /serve write query .*token .*status/);
    assert.match(stdout, /"token create".*--permission.*--expires-in/);
  }
});

const noFull = existsSync('/dev/full') ? false : 'there is no /dev/full';

it('a full disk during output is reported with a clear message', { skip: noFull }, async () => {
  for (const args of [
    ['version'],
    ['query', '--host', server.url, '-d', '_internal', 'SELECT 1'],
  ]) {
    const child = spawn('sh', ['-c', '"$0" "$@" > /dev/full', process.execPath, CLI, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /^plinth: cannot write standard output: ENOSPC: [^\n]*\n {2}the disk is full/,
    );
    assert.doesNotMatch(stderr, /\n +at /, 'no stack');
  }
});

describe('plinth token', () => {
  it('creates, uses, lists, regenerates and deletes tokens', async () => {
    await using secured = await ServerInProcess.start({ flags: [] });
    const at = (args: readonly string[], token?: string) =>
      runCli(args, {
        env: { PLINTH_HOST_URL: secured.url, ...(token && { PLINTH_AUTH_TOKEN: token }) },
      });
    const refused = await at(['status']);
    assert.equal(refused.code, 4);
    assert.match(refused.stderr, /`plinth token create`/);

    const first = await at(['token', 'create']);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /^apiv3_[\w-]{86}\n$/);
    const admin = first.stdout.trim();
    assert.equal((await at(['token', 'create'])).code, 1);

    const status = await at(['status'], admin);
    assert.equal(status.code, 0, status.stderr);
    assert.match(status.stdout, /^health {5}OK \(/m);
    assert.match(status.stdout, /^version {4}\S+, build \d+\.\d+\.\d+/m);
    assert.match(status.stdout, /^databases {2}_internal$/m);

    const named = await at(['token', 'create', 'ci', '--expires-in', '30d'], admin);
    assert.match(named.stderr, /^token ci created \(expires \d{4}-/);
    const listed = await at(['token', 'list'], admin);
    assert.equal(listed.code, 0, listed.stderr);
    const names = listed.stdout.split('\n').map((line) => line.split('|')[2]?.trim());
    assert.deepEqual(names, [undefined, 'name', undefined, '_admin', 'ci', undefined, undefined]);
    assert.ok(!listed.stdout.includes('apiv3_'));
    const wrong = await at(['status'], `${admin}x`);
    assert.equal(wrong.code, 4);
    assert.match(wrong.stderr, /the server rejected the token/);
    const rows = await file('rows.csv', 'time,v\n1,2\n');
    const unread = await at(['import', '-d', 'd', '--table', 'm', rows], `${admin}x`);
    assert.match(unread.stderr, /rejected the token \(the request was not authenticated\)/);
    assert.equal((await at(['status'], named.stdout.trim())).code, 0);

    assert.equal((await at(['token', 'delete', 'ci'], admin)).code, 0);
    assert.equal((await at(['status'], named.stdout.trim())).code, 4);
    const again = await at(['token', 'regenerate'], admin);
    assert.equal(again.code, 0, again.stderr);
    assert.equal((await at(['status'], admin)).code, 4);
    assert.equal((await at(['status'], again.stdout.trim())).code, 0);
  });
});

describe('plinth serve with a data folder that cannot be created', () => {
  // /proc returns ENOENT for its parent, and /dev/null ENOTDIR.
  for (const path of ['/proc/nope', '/proc/nope/below', '/dev/null/x']) {
    it(`exits and names the setting: ${path}`, async () => {
      const bind = ['--http-bind', '127.0.0.1:0', '--without-auth'];
      const { code, stderr } = await runCli(['serve', '--data-dir', path, ...bind]);
      assert.equal(code, 2, stderr);
      assert.match(
        stderr,
        /server\.data_dir: (?:the folder cannot be created: .*mkdir|cannot be used: ENOTDIR)/,
      );
    });
  }
});
