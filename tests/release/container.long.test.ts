// Source: Containerfile and packaging/compose.yaml. Uses no container runtime and no image: the layout of the last
// stage is built here with local programs and separate namespaces: a non-root user, no capabilities, a read-only
// root, no network.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../harness/temporary-folder.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MINUTES_MS = 60_000;
/** Id of the user `node` in the image. */
const UID = '1000';

/** Runs in the container as its only process and handles ENTRYPOINT, CMD and HEALTHCHECK like a container runtime. */
const INSIDE = `
set -e
test "$(id -u)" = ${UID}
grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status
if touch /usr/local/x /etc/x /var/x 2>/dev/null; then echo "the root can be written"; exit 1; fi
$ENTRY $COMMAND > /tmp/log 2>&1 &
SERVER=$!
for i in $(seq 300); do
  if $HEALTH; then break; fi
  kill -0 $SERVER || { cat /tmp/log; exit 1; }
  sleep 0.2
done
$HEALTH || { cat /tmp/log; exit 1; }
export PLINTH_TOKEN=$($ENTRY token create)
$ENTRY write -d home 'rooms,room=Kitchen temp=21.5 1700000000'
$ENTRY query -d home -f csv 'SELECT room, temp FROM rooms'
$ENTRY status
test "$(stat -c %a /var/lib/plinth)" = 700
kill -TERM $SERVER
wait $SERVER
echo "ended with $?"
`;

it('runs in the layout of the Containerfile, as a non-root user and with a read-only root', {
  timeout: 15 * MINUTES_MS,
}, async (context) => {
  const skip = (why: string): void => (context as TestContext).skip(why);
  if (process.platform !== 'linux') return skip('namespaces are those of Linux');
  const alone = ['--unshare-all', '--uid', UID, '--gid', UID, '--cap-drop', 'ALL'];
  const probe = await run('bwrap', [...alone, '--ro-bind', '/', '/', 'true']).catch(
    (error: Error) => error,
  );
  if (probe instanceof Error) return skip(`bubblewrap makes no namespaces here: ${probe.message}`);

  const recipe = await readFile(join(ROOT, 'Containerfile'), 'utf8');
  const last = recipe.slice(recipe.lastIndexOf('\nFROM '));
  const line = (pattern: RegExp): string => {
    const [, text] = pattern.exec(last) ?? assert.fail(`${pattern} in the Containerfile`);
    return text ?? '';
  };
  const words = (text: string): string[] => JSON.parse(text) as string[];
  const variables = Object.fromEntries(
    [...last.matchAll(/^ENV (.+)$/gm)].flatMap(([, pairs = '']) =>
      pairs.split(' ').map((pair) => pair.split('=') as [string, string]),
    ),
  );
  assert.equal(line(/^USER (.+)$/m), 'node');
  assert.equal(line(/^COPY --from=build (.+)$/m), '/app /usr/local');
  const [, install = ''] = /npm install (--global [^\n]*?)\/out\//.exec(recipe) ?? [];
  const compose = await readFile(join(ROOT, 'packaging/compose.yaml'), 'utf8');
  assert.match(compose, /read_only: true\n {4}tmpfs: \[\/tmp\]\n {4}cap_drop: \[ALL\]/);

  const top = await temporaryFolder();
  const [out, app, data] = ['out', 'app', 'data'].map((name) => join(top, name)) as [
    string,
    string,
    string,
  ];
  const release = ['run', '--silent', 'release', '--', '--no-archive', '--out', out];
  await run('npm', release, { cwd: ROOT, maxBuffer: 1 << 26 });
  const name = (await readdir(out)).find((each) => /^plinth-\d.*\.tgz$/.test(each)) ?? '';
  const options = install.trim().replace('/app', app).split(/\s+/);
  await run('npm', ['install', ...options, join(out, name)], { maxBuffer: 1 << 26 });
  await copyFile(process.execPath, join(app, 'bin', 'node'));
  await mkdir(data, { mode: 0o700 });
  await mkdir(join(top, 'etc'));
  await writeFile(join(top, 'etc/passwd'), `node:x:${UID}:${UID}::/home/node:/bin/sh\n`);
  await writeFile(join(top, 'etc/hosts'), '127.0.0.1 localhost\n');

  const quoted = (list: readonly string[]) =>
    list.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const script = INSIDE.replaceAll('$ENTRY', quoted(words(line(/^ENTRYPOINT (.+)$/m))))
    .replaceAll('$COMMAND', quoted(words(line(/^CMD (.+)$/m))))
    .replaceAll('$HEALTH', quoted(words(line(/HEALTHCHECK [^\n]*\\\n {2}CMD (.+)$/m))));
  const { stdout } = await run(
    'bwrap',
    [
      ...[...alone, '--new-session', '--die-with-parent', '--clearenv'],
      ...['--ro-bind', '/usr', '/usr', '--ro-bind', app, '/usr/local'],
      ...['bin', 'lib', 'lib64', 'sbin']
        .filter((each) => existsSync(`/${each}`))
        .flatMap((each) => ['--symlink', `usr/${each}`, `/${each}`]),
      ...['--ro-bind', join(top, 'etc'), '/etc', '--proc', '/proc', '--dev', '/dev'],
      ...['--tmpfs', '/tmp', '--bind', data, '/var/lib/plinth', '--remount-ro', '/'],
      ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin'],
      ...Object.entries(variables).flatMap(([key, value]) => ['--setenv', key, value]),
      ...['/bin/sh', '-c', script],
    ],
    { timeout: 5 * MINUTES_MS },
  ).catch((error: { stdout: string; stderr: string; message: string }) =>
    assert.fail(`${error.message}\n${error.stdout}\n${error.stderr}`),
  );
  assert.match(stdout, /^room,temp\nKitchen,21\.5\n/);
  assert.match(stdout, /^health {5}OK/m);
  assert.match(stdout, /^ended with 0$/m);
  assert.equal(existsSync(join(data, 'plinth.db')), true);
});
