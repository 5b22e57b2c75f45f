// Source: README ("Start"), SETTINGS (server.log_format); a real pseudo terminal, made by Python.
// Own process: it runs in a terminal.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CLI, countStart } from '../../harness/cli.js';

/** Runs a command, in a terminal or with pipes, until it prints the mark. Then sends the signal of Ctrl-C and prints both outputs. */
const RUN = `
import json, os, pty, select, signal, subprocess, sys, time
command, mark, is_terminal = json.loads(sys.argv[1])
if is_terminal:
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    ends = [terminal]
else:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child, ends = process.pid, [process.stdout.fileno(), process.stderr.fileno()]
out, end, is_told = {each: b'' for each in ends}, time.time() + 120, False
while ends and time.time() < end:
    for each in select.select(ends, [], [], 0.2)[0]:
        try:
            got = os.read(each, 65536)
        except OSError:
            got = b''
        if not got:
            ends.remove(each)
        out[each] += got
    if not is_told and any(mark.encode() in text for text in out.values()):
        is_told = True
        os.kill(child, signal.SIGINT)
print(json.dumps([text.decode() for text in out.values()]))
`;

import { temporaryFolder } from '../../harness/temporary-folder.js';

const folder = await temporaryFolder();

async function serve(
  mark: string,
  isTerminal: boolean,
  flags: readonly string[] = [],
  more: { readonly words?: readonly string[]; readonly env?: Record<string, string> } = {},
): Promise<readonly string[]> {
  const { words = [CLI, 'serve'] } = more;
  const bind = ['--data-dir', join(folder, 'data'), '--http-bind', '127.0.0.1:0'];
  const command = [process.execPath, ...words, ...bind, ...flags];
  const given = JSON.stringify([command, mark, isTerminal]);
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PLINTH|INFLUXDB3|npm)_/.test(name)),
  );
  await countStart();
  const { stdout } = await promisify(execFile)('python3', ['-c', RUN, given], {
    env: { ...env, ...more.env },
  });
  return JSON.parse(stdout) as string[];
}

it('startup on a terminal prints a banner and text logs', async () => {
  const [screen = ''] = await serve('Ctrl-C', true);
  const text = screen.replaceAll('\r\n', '\n');
  const url = /plinth listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(text)?.[1];
  assert.ok(url, text);
  assert.ok(text.includes(`open      ${url}/console/`), text);
  assert.ok(text.includes(`data      ${join(folder, 'data')}`), text);
  assert.match(text, /^Keys of the accounts service \(shown only once\):\n( {2}[sp]k_\w+\n){4}/m);
  const files = await readdir(join(folder, 'data'));
  assert.ok(!files.includes('initial-account-keys'), 'keys that a terminal shows are not stored');
  const command = `plinth token create --host ${url}`;
  assert.ok(text.includes(`access    no token yet; create the first one: ${command}`), text);
  assert.ok(
    text.includes('next      create the token, open the address and sign in with it'),
    text,
  );
  assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}server listens address=http:/m);
  assert.ok(!text.includes('{"level"'), text);
  const [open = ''] = await serve('Ctrl-C', true, ['--without-auth', '--log-format', 'json']);
  assert.ok(open.includes('access    no token required'), open);
  assert.match(open, /\{"level":"info".*"msg":"server listens"\}/);
});

it('startup on a terminal prints the claim code, without storing or logging it', async () => {
  await rm(join(folder, 'data'), { recursive: true, force: true });
  const flags = ['--http-bind', '0.0.0.0:0', '--log-format', 'json'];
  const [screen = ''] = await serve('Ctrl-C', true, flags);
  const text = screen.replaceAll('\r\n', '\n');
  const shown = /requires this claim code, which is shown only once:\n {2}([a-z2-9-]{34})\n/.exec(
    text,
  );
  assert.ok(shown, text);
  assert.equal(text.split(shown[1] ?? '').length, 2, 'only once');
  assert.match(text, /"claimCode":"on the terminal","msg":"no admin token yet"/);
  assert.ok(!(await readdir(join(folder, 'data'))).includes('claim-code'));
});

it('`npm start` on an empty folder prints the commands of a checkout', async () => {
  await rm(join(folder, 'data'), { recursive: true, force: true });
  const start = fileURLToPath(new URL('../../../../scripts/start.cjs', import.meta.url));
  const more = { words: [start], env: { npm_lifecycle_event: 'start' } };
  const [screen = ''] = await serve('Ctrl-C', true, [], more);
  const text = screen.replaceAll('\r\n', '\n');
  const url = /plinth listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(text)?.[1];
  const command = `npm run plinth -- token create --host ${url}`;
  assert.ok(text.includes(`access    no token yet; create the first one: ${command}\n`), text);
  assert.ok(
    text.includes('next      create the token, open the address and sign in with it\n'),
    text,
  );
  assert.ok(text.includes(`data      ${join(folder, 'data')}\n`), text);
});

it('startup without a terminal logs only JSON lines, or text if configured', async () => {
  const [, log = ''] = await serve('server listens', false, ['--services', 'tsdb']);
  const lines = log.trim().split('\n');
  for (const line of lines) assert.equal(typeof JSON.parse(line).msg, 'string', line);
  const [out, text = ''] = await serve('server listens', false, [
    ...['--services', 'tsdb', '--log-format', 'text'],
  ]);
  assert.equal(out, '');
  assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}server listens address=http:/m);
});
