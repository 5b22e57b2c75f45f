import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../harness/index.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const UNIT = join(ROOT, 'packaging/plinth.service');
/** In the range that systemd uses for `DynamicUser=`. */
export const UID = 61_999;
const START_TIMEOUT_MS = 90_000;

/** Returns the reason why no unit can run here; `false` if it can. */
export function noUnitHere(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  const cli = join(ROOT, 'packages/cli/dist/cli.cjs');
  const probe = spawnSync('setpriv', [...asUnitUser, 'test', '-r', cli]);
  return probe.status === 0 ? false : `setpriv is missing, or user ${UID} cannot read ${cli}`;
}

const asUnitUser = [
  ...[`--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--no-new-privs'],
  ...['--inh-caps=-all', '--bounding-set=-all'],
];

/**
 * A folder with the paths named in the unit, prepared like systemd does at startup: state directories and their owner,
 * credentials, variables. Source: systemd.exec(5), StateDirectory=, LoadCredential=, Environment=, EnvironmentFile=. Other
 * directives of the unit are not applied.
 */
export class UnitMachine {
  readonly top = mkdtempSync(join(tmpdir(), 'plinth-unit-'));
  #server: ChildProcess | undefined;
  log = '';

  constructor() {
    chmodSync(this.top, 0o755);
    const folders = ['etc/plinth', 'opt/plinth/bin', 'opt/plinth/lib/node_modules', 'var/lib'];
    for (const folder of folders) mkdirSync(this.path(`/${folder}`), { recursive: true });
    copyFileSync(join(ROOT, 'packaging/plinth'), this.path('/opt/plinth/bin/plinth'));
    chmodSync(this.path('/opt/plinth/bin/plinth'), 0o755);
    symlinkSync(ROOT, this.path('/opt/plinth/lib/node_modules/plinth'));
  }

  path(absolute: string): string {
    return this.top + absolute;
  }

  /** Replaces the paths in commands or a unit with paths in this folder. */
  relocate(text: string): string {
    return text.replaceAll(/(?<![\w.])\/(?=(?:etc|opt|var)\/)/g, `${this.top}/`);
  }

  /** Writes a file as root; by default only root can read it. */
  write(absolute: string, text: string, mode = 0o600): void {
    writeFileSync(this.path(absolute), text);
    chmodSync(this.path(absolute), mode);
  }

  /** Runs commands of INSTALL.md as root. `systemctl` does nothing: the test starts and stops the server. */
  run(commands: string): string {
    const script = `set -e\nsudo() { "$@"; }\nsystemctl() { :; }\n${this.relocate(commands)}`;
    const env = { ...process.env, PATH: `${this.path('/opt/plinth/bin')}:${process.env['PATH']}` };
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', env });
    assert.equal(status, 0, `${commands}\n${stdout}${stderr}`);
    return stdout;
  }

  /** Starts the unit with these drop-ins. @returns the address, or the exit code of a server that ended early. */
  async start(dropIns: readonly string[] = []): Promise<string | number> {
    assert.equal(this.#server, undefined);
    const lines = this.relocate([readFileSync(UNIT, 'utf8'), ...dropIns].join('\n'))
      .replaceAll('%S', this.path('/var/lib'))
      .replaceAll('%d', this.path('/credentials'))
      .split('\n');
    const valuesOf = (name: string): readonly string[] =>
      lines
        .filter((line) => line.startsWith(`${name}=`))
        .map((line) => line.slice(name.length + 1));
    const states = valuesOf('StateDirectory')
      .flatMap((names) => names.split(' '))
      .map((name) => this.path(`/var/lib/${name}`));
    for (const folder of states) giveToUnitUser(folder);
    this.#loadCredentials(valuesOf('LoadCredential'));
    const [environmentFile = ''] = valuesOf('EnvironmentFile');
    const env = Object.fromEntries(
      [...valuesOf('Environment'), ...variablesOf(environmentFile.replace(/^-/, ''))].map(
        (pair) => {
          const [, name = '', value = ''] = /^(\w+)="?(.*?)"?$/.exec(pair) ?? assert.fail(pair);
          return [name, value];
        },
      ),
    );
    const [command = ''] = valuesOf('ExecStart');
    const server = spawn('setpriv', [...asUnitUser, ...command.split(' ')], {
      env: {
        PATH: process.env['PATH'],
        STATE_DIRECTORY: states.join(':'),
        CREDENTIALS_DIRECTORY: this.path('/credentials'),
        ...env,
      },
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.log = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.log += text;
    });
    this.#server = server;
    await until(
      async () => server.exitCode !== null || /"msg":"server listens"/.test(this.log),
      'the start',
      START_TIMEOUT_MS,
    );
    const address = /"address":"(http[^"]+)".*"msg":"server listens"/.exec(this.log)?.[1];
    if (address !== undefined) return address;
    this.#server = undefined;
    return server.exitCode ?? assert.fail(this.log);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null], this.log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.top, { recursive: true, force: true });
  }

  #loadCredentials(credentials: readonly string[]): void {
    const folder = this.path('/credentials');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o500 });
    for (const credential of credentials) {
      const [, name = '', from = ''] = /^([^:]+):(.+)$/.exec(credential) ?? assert.fail(credential);
      copyFileSync(from, join(folder, name));
      chmodSync(join(folder, name), 0o400);
      chownSync(join(folder, name), UID, UID);
    }
    chownSync(folder, UID, UID);
  }
}

/** Changes the owner of the complete tree, like systemd, but only if its top folder has another owner. */
function giveToUnitUser(folder: string): void {
  if (!existsSync(folder)) mkdirSync(folder);
  if (statSync(folder).uid !== UID) {
    assert.equal(spawnSync('chown', ['-R', `${UID}:${UID}`, folder]).status, 0);
  }
  chmodSync(folder, 0o700);
}

const variablesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
