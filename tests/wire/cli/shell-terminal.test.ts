// Source: README ("plinth shell": history, completion, pages); a real pseudo terminal, made by Python.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CLI } from '../../harness/cli.js';
import { SharedServer, temporaryFolder } from '../../harness/index.js';

/**
 * Runs a command in a terminal of 12 lines. Each input is typed after the mark of the previous input has appeared.
 * An input with a number is repeated up to that many times, until its mark appears.
 */
const TERMINAL = `
import fcntl, json, os, pty, select, struct, sys, termios, time
command, steps = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 12, 100, 0, 0))
out = ''
found = 0
def until(mark, start, seconds):
    global out, found
    end = time.time() + seconds
    while mark not in out[start:] and time.time() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                out += os.read(terminal, 65536).decode(errors='replace')
            except OSError:
                return
    if mark in out[start:]:
        found = out.index(mark, start) + len(mark)
for typed, mark, *times in steps:
    # Who types nothing waits for what comes behind the mark before.
    start = len(out) if typed else found
    for _ in range(times[0] if times else 1):
        if mark in out[start:]:
            break
        os.write(terminal, typed.encode())
        until(mark, start, 1 if times else 3 if mark == 'nothing of this, but time passes' else 20)
os.kill(child, 9)
os.waitpid(child, 0)
print(out)
`;

let server: SharedServer;
const home = await temporaryFolder();
before(async () => {
  server = await SharedServer.get();
  const lines = Array.from({ length: 40 }, (_, i) => `turbines v=${i} ${i + 1}`);
  await server.http.send('/write?db=sh&precision=s', { body: lines.join('\n') });
});
after(() => server.close());

async function typed(
  steps: readonly (readonly [text: string, mark: string, times?: number])[],
): Promise<string> {
  const command = [process.execPath, CLI, 'shell', '--host', server.url, '--database', 'sh'];
  const all = [['', '> '], ...steps];
  const { stdout } = await promisify(execFile)(
    'python3',
    ['-c', TERMINAL, JSON.stringify([[...command, '--language', 'influxql'], all])],
    { env: { ...process.env, HOME: home, TERM: 'xterm' }, timeout: 60_000 },
  );
  return stdout;
}

describe('plinth shell in a terminal', () => {
  it('completes a table name and runs the query', async () => {
    const out = await typed([
      ['SELECT count(v) FROM turb', 'turb'],
      ['\t', 'ines'],
      [';\r', '+\r\n'],
      ['', '(influxql)> '],
    ]);
    assert.match(out, /FROM turbines;/);
    assert.match(out, /\| turbines +\| 1970-01-01T00:00:00 \| 40 /);
  });

  it('recalls the previous statement', async () => {
    const out = await typed([
      ['SELECT max(v) FROM turbines;\r', '(influxql)> '],
      ['\u001b[A', 'turbines;'],
      ['\r', '(influxql)> '],
    ]);
    assert.equal(out.match(/\| turbines +\| 1970-01-01T00:00:40 \| 39\.0 /g)?.length, 2);
  });

  it('cancels the running statement on Ctrl-C, also on the server', async () => {
    const from = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `turbines ${name}`).join(', ');
    const startMs = performance.now();
    const out = await typed([
      ['language sql\r', '(sql)> '],
      [
        `SELECT sum(a.v * b.v + c.v * d.v + e.v * f.v) FROM ${from};\r`,
        'nothing of this, but time passes',
      ],
      ['\u0003', '(sql)> '],
      ['SELECT max(v) AS most FROM turbines;\r', '39.0'],
      ['', '(sql)> '],
      ["SELECT phase FROM system.queries WHERE query_text LIKE 'SELECT sum(%';\r", '| cancel ', 20],
    ]);
    assert.match(out, /canceled/);
    assert.match(out, /\| most \|[\s\S]*\| 39\.0 /);
    assert.match(out, /\| cancel +\|/);
    assert.ok(performance.now() - startMs < 55_000);
  });

  it('discards the typed input on Ctrl-C', async () => {
    const out = await typed([
      ['SELECT nonsense', 'nonsense'],
      ['\u0003', '(influxql)> '],
      ['SELECT count(v) FROM turbines;\r', '| turbines'],
      ['', '(influxql)> '],
    ]);
    assert.match(out, /\| turbines +\| 1970-01-01T00:00:00 \| 40 /);
  });

  it('keeps the current database if the new one does not exist', async () => {
    const out = await typed([
      ['use nosuch\r', 'sh(influxql)> '],
      ['SELECT count(v) FROM turbines;\r', '| turbines'],
      ['', '(influxql)> '],
    ]);
    assert.match(out, /database not found: nosuch/);
    assert.ok(!out.includes('nosuch(influxql)>'), out);
  });

  it('shows long results page by page', async () => {
    const out = await typed([
      ['SELECT v FROM turbines;\r', 'q ends'],
      ['\r', 'q ends'],
      ['q\r', '(influxql)> '],
    ]);
    assert.equal(out.match(/Enter: next page, q: quit/g)?.length, 2);
    assert.ok(!out.includes('00:00:40'));
  });
});
