// Source: processing-engine, sections 5, 6, 10, 15 and 17.
// Own process: one server runs as another user, and its environment variables are read.
import assert from 'node:assert/strict';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertError,
  type OwnServer,
  RawConnection,
  runProgram,
  ServerInProcess,
  ServerProcess,
  write,
} from '../../harness/index.js';
import {
  assertDone,
  JSON_TYPE,
  makeWheel,
  noPython,
  PluginServer,
  TRIGGER,
} from './plugin-server.js';

const INSTALL = '/api/v3/configure/plugin_environment';
const FILES = '/api/v3/plugins/files';
const answering = (expression: string): string =>
  `import json, os, sys\ndef process_request(a, b, c, d, args=None):\n    return ${expression}\n`;

/** Starts a server with a plugin folder, in its own process if it has environment variables. */
async function start(
  folder: string,
  flags: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<OwnServer> {
  const all = ['--without-auth', '--services', 'tsdb', '--plugin-dir', folder, ...flags];
  const server =
    env === undefined
      ? await ServerInProcess.start({ flags: all })
      : await ServerProcess.start({ flags: all, env });
  await write(server, { db: 'db1' }, 'seed f=1 1');
  return server;
}

const post = async (server: OwnServer, path: string, body: unknown) =>
  await server.http.send(path, { method: 'POST', body: JSON.stringify(body), headers: JSON_TYPE });

/** Returns the response of a plugin that evaluates one expression. */
async function ask(server: OwnServer, expression: string): Promise<string> {
  assertDone(await post(server, FILES, { plugin_name: 'ask.py', content: answering(expression) }));
  const trigger = { db: 'db1', trigger_name: 'ask', trigger_specification: 'request:ask' };
  assertDone(await post(server, TRIGGER, { ...trigger, plugin_filename: 'ask.py' }));
  const { status, text } = await server.http.send('/api/v3/engine/ask');
  assert.equal(status, 200, text);
  const gone = { db: 'db1', trigger_name: 'ask', force: true };
  await server.http.send(TRIGGER, {
    method: 'DELETE',
    body: JSON.stringify(gone),
    headers: JSON_TYPE,
  });
  return text;
}

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-isolated-'));
});
after(() => rm(folder, { recursive: true }));

describe('the environment of plugins', { skip: noPython }, () => {
  const env = {
    PLINTH_MASTER_KEY: 'a-master-key-of-at-least-32-characters',
    DATABASE_SECRET: 'secret-of-the-server',
    AWS_SECRET_ACCESS_KEY: 'secret-of-a-cloud',
    INFLUXDB3_AUTH_TOKEN: 'token-of-a-plugin',
    PIP_INDEX_URL: 'https://user:word@127.0.0.1:9/simple',
    NODE_OPTIONS: '',
  };

  it('holds no secret of the server', async () => {
    await using server = await start(folder, [], env);
    const names = JSON.parse(await ask(server, 'dict(os.environ)'));
    const known =
      /^(?:PATH|HOME|LANG|LC_ALL|LC_CTYPE|TMPDIR|LD_LIBRARY_PATH|TZ|VIRTUAL_ENV|PLUGIN_DIR|INFLUXDB3_PLUGIN_DIR|PLINTH_PLUGIN_WORKER)$/;
    assert.deepEqual(
      Object.keys(names).filter((name) => !known.test(name)),
      [],
    );
    assert.equal(names['TZ'], 'UTC');
    assert.equal(names['PATH'].split(':')[0], join(names['VIRTUAL_ENV'], 'bin'));
    for (const secret of Object.values(env)) {
      assert.equal(secret !== '' && JSON.stringify(names).includes(secret), false, secret);
    }
  });

  it('holds what the operator names, and never a setting of the server', async () => {
    await using server = await start(folder, ['--plugin-env', 'INFLUXDB3_AUTH_TOKEN'], env);
    assert.equal(await ask(server, 'os.environ["INFLUXDB3_AUTH_TOKEN"]'), 'token-of-a-plugin');
    await assert.rejects(
      ServerInProcess.start({ flags: ['--without-auth', '--plugin-env', 'PLINTH_MASTER_KEY'] }),
      /--plugin-env/,
    );
  });

  it('of packages that are installed has the way to a mirror and no secret', async () => {
    await using server = await start(folder, ['--package-manager', 'pip'], env);
    const source = join(folder, 'telltale');
    await mkdir(source, { recursive: true });
    const told = join(folder, 'told.json');
    // A package that is built locally: its code runs, and no index is queried.
    await writeFile(
      join(source, 'pyproject.toml'),
      '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    );
    await writeFile(
      join(source, 'backend.py'),
      `import json, os\nopen(${JSON.stringify(told)}, "w").write(json.dumps(dict(os.environ)))\nraise SystemExit(3)\n`,
    );
    await writeFile(join(folder, 'telltale.txt'), `${source}\n`);
    const location = { requirements_location: 'telltale.txt' };
    const response = await post(server, `${INSTALL}/install_requirements`, location);
    assert.equal(response.status, 500);
    const text = await readFile(told, 'utf8');
    assert.match(text, /127\.0\.0\.1:9\/simple/);
    assert.doesNotMatch(text, /a-master-key|secret-of|token-of/);
  });
});

describe('requirements of plugins', { skip: noPython }, () => {
  let plugins: PluginServer;
  const requirements = async (requirements_location: string) =>
    await plugins.post(`${INSTALL}/install_requirements`, { requirements_location });
  before(async () => {
    plugins = await PluginServer.start();
  });
  after(() => plugins.close());

  it('are taken from the plugin folder alone, and no line of a file is told', async () => {
    const outside = join(folder, 'outside.txt');
    await writeFile(outside, 'a line = that nobody-may-see\n');
    await symlink(outside, join(plugins.folder, 'link.txt'));
    await symlink(folder, join(plugins.folder, 'away'));
    for (const location of [
      '/etc/passwd',
      '/etc/none',
      outside,
      '../x',
      'link.txt',
      'away/outside.txt',
    ]) {
      const response = await requirements(location);
      assertError(
        response,
        400,
        `Plugin error: Path traversal detected: plugin filename '${location}' attempts to access files outside the plugin directory`,
      );
    }
    await plugins.plugin('nested.txt', `-r ${outside}\n`);
    const nested = await requirements('nested.txt');
    assertError(nested, 400, 'nested.txt, line 1: the file is not in the plugin directory');
    await plugins.plugin('passwords.ini', '[main]\npassword = nobody-may-see this\n');
    for (const location of ['passwords.ini', join(plugins.folder, 'passwords.ini')]) {
      const response = await requirements(location);
      assert.equal(response.status, 500, response.text);
      assert.doesNotMatch(response.text, /may-see|main|password =/);
      assert.match(
        response.text,
        /error installing python packages: the requirement in line 1 is not a valid requirement \(exit code \d\); see the server log for the installer's output/,
      );
    }
    assert.match(plugins.server.logText, /package installation failed/);
  });

  it('that are not there are told apart by what went wrong', async () => {
    await plugins.plugin('none.txt', '--no-index\nplinth-nobody-may-see==9.9\n');
    const response = await requirements('none.txt');
    assert.equal(response.status, 500, response.text);
    assert.doesNotMatch(response.text, /may-see/);
    assert.match(response.text, /names an unknown package or version/);
  });

  it('are installed from a path that is named from the root', async () => {
    const wheels = join(plugins.folder, 'wheels');
    await makeWheel(wheels, 'plinth_rooted', '1.0');
    await mkdir(join(plugins.folder, 'sets'));
    await writeFile(join(plugins.folder, 'sets/inner.txt'), 'plinth_rooted==1.0\n');
    await plugins.plugin('all.txt', `--no-index --find-links ${wheels}\n-r sets/inner.txt\n`);
    assertDone(await requirements(join(plugins.folder, 'all.txt')));
  });
});

describe('uploads of plugin files', { skip: noPython }, () => {
  let plugins: PluginServer;
  before(async () => {
    plugins = await PluginServer.start();
    await mkdir(join(plugins.folder, '.git/hooks'), { recursive: true });
    await symlink(join(plugins.folder, '.git'), join(plugins.folder, 'shown'));
    await mkdir(join(folder, 'elsewhere'));
    await symlink(join(folder, 'elsewhere'), join(plugins.folder, 'tmp'));
  });
  after(() => plugins.close());

  const everything = async (): Promise<string[]> =>
    (await readdir(plugins.folder, { recursive: true })).sort();

  it('write to no hidden place, whatever the spelling', async () => {
    const kept = await everything();
    const content = 'x = 1\n';
    for (const name of [
      ...['.venv/lib/x.py', '.git/hooks/pre-commit', '.env', 'a/.hidden/x.py', 'a/.x.py', './.x'],
      ...[
        '.venv',
        '.venv/',
        './.venv/x',
        'a\\.venv\\x.py',
        '.VENV/x',
        'a//.git/x',
        '...',
        'shown/x.py',
      ],
      ...[
        'a/../.venv/x',
        '../x.py',
        '/etc/x',
        `${plugins.folder}/.venv/x.py`,
        'a\0.py',
        'tmp/x.py',
      ],
      ...['shown/hooks/pre-commit', '..\\x.py', '', '.', './', './.'],
    ]) {
      const json = await plugins.post(FILES, { plugin_name: name, content });
      assert.equal(json.status, 400, `${name}: ${json.text}`);
      for (const method of ['PUT', 'POST']) {
        const raw = await plugins.server.http.send(`${FILES}?path=${encodeURIComponent(name)}`, {
          method,
          body: content,
          headers: { 'content-type': 'application/octet-stream' },
        });
        assert.equal(raw.status, 400, `${method} ${name}: ${raw.text}`);
      }
    }
    assert.deepEqual(await everything(), kept);
    const told = await plugins.post(FILES, { plugin_name: 'a/.git/x.py', content });
    assertError(told, 400, 'a/.git/x.py: names that begin with a dot are not allowed');
    assertDone(await plugins.post(FILES, { plugin_name: './seen/a.b.py', content }));
  });

  it('replace no folder by one with hidden files', async () => {
    const content = answering('"kept"');
    assertDone(await plugins.post(FILES, { plugin_name: 'whole/__init__.py', content }));
    const trigger = { trigger_name: 'whole', trigger_specification: 'request:whole' };
    assertDone(await plugins.create({ ...trigger, plugin_filename: 'whole' }));
    for (const path of ['.git/config', 'sub/.env', '.venv/x.py', 'a\\.x', '../x.py', '/x.py']) {
      const files = [
        { relative_path: '__init__.py', content: 'x = 1\n' },
        { relative_path: path, content },
      ];
      const body = { plugin_name: 'whole', files };
      const response = await plugins.post('/api/v3/plugins/directory', body, 'PUT');
      assert.equal(response.status, 400, `${path}: ${response.text}`);
    }
    assert.equal((await plugins.server.http.send('/api/v3/engine/whole')).text, 'kept');
    assert.deepEqual(
      (await readdir(join(plugins.folder, 'whole'))).filter((name) => name !== '__pycache__'),
      ['__init__.py'],
    );
    await plugins.remove('whole');
  });

  it('write nothing to the environment, also where its name has no dot', async () => {
    const own = await mkdtemp(join(tmpdir(), 'plinth-own-env-'));
    try {
      const environment = join(own, 'envs/one');
      await using server = await start(own, ['--virtual-env-location', environment]);
      assert.equal(await ask(server, 'sys.prefix'), environment);
      await symlink(environment, join(own, 'other'));
      const upload = async (plugin_name: string) =>
        await post(server, FILES, { plugin_name, content: answering('"x"') });
      for (const name of [
        'envs/one',
        'envs/one/x.py',
        'envs/./one/lib/x.py',
        'other/x.py',
        'other',
      ]) {
        assertError(
          await upload(name),
          400,
          `${name} is inside the Python virtual environment, which uploads cannot change; use another path`,
        );
      }
      assertDone(await upload('envs/two.py'));
      assertDone(await upload('envs/__init__.py'));
      const trigger = { db: 'db1', trigger_name: 'envs', trigger_specification: 'request:envs' };
      assertDone(
        await post(server, TRIGGER, { ...trigger, plugin_filename: 'envs', disabled: true }),
      );
      const files = [{ relative_path: '__init__.py', content: 'x = 1\n' }];
      const replaced = await server.http.send('/api/v3/plugins/directory', {
        method: 'PUT',
        body: JSON.stringify({ plugin_name: 'envs', files }),
        headers: JSON_TYPE,
      });
      assertError(
        replaced,
        400,
        'envs contains the Python virtual environment, which uploads cannot change; use another path',
      );
      await stat(join(environment, 'bin/python'));
    } finally {
      await rm(own, { recursive: true });
    }
  });
});

describe('what a plugin answers', { skip: noPython }, () => {
  let plugins: PluginServer;
  before(async () => {
    plugins = await PluginServer.start();
  });
  after(() => plugins.close());

  it('cannot act as a page of the server, whatever headers it has', async () => {
    const assertProtected = async (path: string, status: number) => {
      const response = await plugins.server.http.send(path);
      assert.equal(response.status, status, response.text);
      assert.equal(
        response.headers['content-security-policy'],
        'sandbox allow-scripts allow-forms',
        path,
      );
      assert.equal(response.headers['x-content-type-options'], 'nosniff', path);
      return response;
    };
    const sources: readonly (readonly [name: string, source: string, status: number])[] = [
      ['page', answering('"<script>1</script>"'), 200],
      [
        'own',
        answering(
          '"x", 201, {"Access-Control-Allow-Origin": "*", "access-control-allow-credentials": "true", "Content-Security-Policy": "default-src *", "content-security-policy": "x", "X-Content-Type-Options": "sniff", "Cluster-UUID": "x", "X-Mine": "1"}',
        ),
        201,
      ],
      [
        'origin',
        answering(
          '"x", 200, {"Set-Cookie": "a=b; Path=/", "Clear-Site-Data": "\\"*\\"", "strict-transport-security": "max-age=9", "Service-Worker-Allowed": "/", "Alt-Svc": "h2=\\":1\\"", "Report-To": "{}", "X-Mine": "1"}',
        ),
        200,
      ],
      ['fails', answering('1 / 0'), 500],
      ['broken', 'x = (', 500],
    ];
    for (const [name, source, status] of sources) {
      const isBroken = name === 'broken';
      await plugins.plugin(`${name}.py`, isBroken ? answering('1') : source);
      const trigger = { trigger_name: name, trigger_specification: `request:${name}` };
      assertDone(await plugins.create({ ...trigger, plugin_filename: `${name}.py` }));
      // A plugin that never compiled would have been refused.
      if (isBroken) await plugins.plugin(`${name}.py`, source);
      const response = await assertProtected(`/api/v3/engine/${name}`, status);
      if (name === 'own') {
        assert.equal(response.headers['x-mine'], '1');
        const names = Object.keys(response.headers).join();
        assert.doesNotMatch(names, /access-control/, 'the server says none where it asks nobody');
        assert.match(String(response.headers['cluster-uuid']), /^[0-9a-f-]{36}$/);
      }
      if (name === 'origin') {
        const names = Object.keys(response.headers).join();
        assert.match(names, /x-mine/);
        assert.doesNotMatch(names, /cookie|clear-site|transport|worker|alt-svc|report-to/);
      } else await plugins.remove(name);
    }
    await assertProtected('/api/v3/engine/nobody', 404);
    await plugins.restart(['--plugin-response-cookies']);
    const allowed = await assertProtected('/api/v3/engine/origin', 200);
    assert.deepEqual(allowed.headers['set-cookie'], ['a=b; Path=/']);
    assert.equal(allowed.headers['clear-site-data'], undefined);
    await plugins.remove('origin');
  });

  it('has no body where its status allows none, so that the next answer is where its client looks', async () => {
    await plugins.plugin('none.py', answering('"x", int(b["status"])'));
    const trigger = { trigger_name: 'none', trigger_specification: 'request:none' };
    assertDone(await plugins.create({ ...trigger, plugin_filename: 'none.py' }));
    using connection = await RawConnection.open(plugins.server.url);
    for (const [status, body] of [
      [204, ''],
      [304, ''],
      [200, 'x'],
    ] as const) {
      connection.send(
        `GET /api/v3/engine/none?status=${status} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      );
      await connection.until(new RegExp(`HTTP/1\\.1 ${status} [^]*\r\n\r\n${body}$`));
    }
    await plugins.remove('none');
  });
});

const isRoot = process.getuid?.() === 0;
/** A Python that users other than root can run. */
const PYTHON = '/usr/bin/python3';
const noOther =
  noPython ||
  (isRoot && (await stat(PYTHON).catch(() => undefined)) !== undefined
    ? false
    : 'it takes root to be another user, and a Python that all can run');

describe('plugins of another user', { skip: noOther }, () => {
  let own: string;
  let server: ServerProcess;
  before(async () => {
    own = await mkdtemp(join(tmpdir(), 'plinth-nobody-'));
    await chmod(own, 0o755);
    const flags = ['--plugin-user', 'nobody', '--python', PYTHON, '--package-manager', 'pip'];
    const started = await start(own, flags, {});
    assert.ok(started instanceof ServerProcess);
    server = started;
  });
  after(async () => {
    await server.close();
    await rm(own, { recursive: true });
  });
  const who = '[os.getuid(), os.geteuid(), os.getgid(), os.getgroups()]';

  it('run as that user, in none of the groups of root', async () => {
    assert.deepEqual(JSON.parse(await ask(server, who)), [65_534, 65_534, 65_534, []]);
    assert.equal(await ask(server, 'os.environ["HOME"]'), '/nonexistent');
  });

  it('cannot read what is the server’s alone, nor its environment', async () => {
    const key = join(server.dataDir, 'master.key');
    await chmod(server.dataDir, 0o755); // the file's own mode protects it
    const read = (path: string) =>
      `(lambda: (open(${JSON.stringify(path)}).read(), "read")[1])() if os.access(${JSON.stringify(path)}, os.R_OK) else "refused"`;
    assert.equal(await ask(server, read(key)), 'refused');
    assert.equal(await ask(server, read(`/proc/${server.pid}/environ`)), 'refused');
    assert.equal(await ask(server, read('/etc/passwd')), 'read');
  });

  it('have packages that were installed as that user too', async () => {
    const wheels = join(own, 'wheels');
    await makeWheel(wheels, 'plinth_theirs', '1.0');
    await writeFile(join(own, 'req.txt'), `--no-index\n--find-links ${wheels}\nplinth_theirs\n`);
    const location = { requirements_location: 'req.txt' };
    assertDone(await post(server, `${INSTALL}/install_requirements`, location));
    assert.equal(await ask(server, '__import__("plinth_theirs").VALUE'), 'value of plinth_theirs');
    const { uid } = await stat(join(own, '.venv'));
    assert.equal(uid, 65_534);
    // The owner of the plugin folder controls which code runs.
    assert.equal(await ask(server, `str(os.access(${JSON.stringify(own)}, os.W_OK))`), 'False');
  });

  it('see the files of plugins that are written while the shell lets nobody read', async () => {
    await using closed = await ServerProcess.start({
      flags: [
        '--without-auth',
        '--services',
        'tsdb',
        '--plugin-dir',
        join(own, 'fresh'),
        '--plugin-user',
        '65534',
        '--python',
        PYTHON,
        '--virtual-env-location',
        join(own, 'environments/of/plugins'),
      ],
      limits: 'umask 077',
    });
    await write(closed, { db: 'db1' }, 'seed f=1 1');
    const source = 'from .part import process_request\n';
    for (const [name, content] of [
      ['deep/inner/__init__.py', source],
      ['deep/inner/part.py', answering(who)],
    ] as const) {
      assertDone(await post(closed, FILES, { plugin_name: name, content }));
    }
    const trigger = { db: 'db1', trigger_name: 'deep', trigger_specification: 'request:deep' };
    assertDone(await post(closed, TRIGGER, { ...trigger, plugin_filename: 'deep/inner' }));
    const { text } = await closed.http.send('/api/v3/engine/deep');
    assert.deepEqual(JSON.parse(text), [65_534, 65_534, 65_534, []]);
    const environment = await stat(join(own, 'environments/of/plugins/bin/python'));
    assert.ok(environment.isFile(), 'it is made below folders that were not there either');
  });

  it('are named in the log when they were there before and that user cannot read them', async () => {
    const earlier = await mkdtemp(join(tmpdir(), 'plinth-earlier-'));
    await chmod(earlier, 0o755);
    await mkdir(join(earlier, 'shut'), { mode: 0o700 });
    await writeFile(join(earlier, 'old.py'), answering('"ran"'), { mode: 0o600 });
    await writeFile(join(earlier, '.hidden'), '', { mode: 0o600 });
    await writeFile(join(earlier, 'ask.py'), answering('"ran"'), { mode: 0o644 });
    await runProgram(PYTHON, ['-m', 'venv', '--without-pip', join(earlier, '.venv')]);
    try {
      await using other = await start(earlier, ['--plugin-user', 'nobody', '--python', PYTHON]);
      assert.equal(await ask(other, '"ran"'), 'ran');
      const list = `${join(earlier, 'old.py')}, ${join(earlier, 'shut')}; make the files of plugins readable`;
      assert.ok(other.logText.includes(`user nobody cannot read ${list}`), other.logText);
      const environment = `user nobody cannot write the virtual environment ${join(earlier, '.venv')}`;
      assert.ok(other.logText.includes(environment), other.logText);
    } finally {
      await rm(earlier, { recursive: true });
    }
  });

  it('do not run at all when the user is none, or cannot read the folder', async () => {
    const closed = await mkdtemp(join(tmpdir(), 'plinth-closed-'));
    await writeFile(join(closed, 'ask.py'), answering('"ran"'));
    try {
      for (const [user, why] of [
        [
          'no-such-user',
          /Python plugins not enabled on this server: user no-such-user is not in \/etc\/passwd/,
        ],
        [
          'nobody',
          new RegExp(`user nobody cannot read ${closed}; make it and its parent folders readable`),
        ],
      ] as const) {
        await using other = await start(closed, ['--plugin-user', user, '--python', PYTHON]);
        const trigger = { db: 'db1', trigger_name: 'ask', trigger_specification: 'request:ask' };
        const response = await post(other, TRIGGER, { ...trigger, plugin_filename: 'ask.py' });
        assert.equal(response.status, 503, response.text);
        assert.match(response.text, why);
      }
    } finally {
      await rm(closed, { recursive: true });
    }
  });
});
