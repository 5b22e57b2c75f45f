// Source: docs/INSTALL.md, and systemd 252: systemd.exec(5), systemd.service(5). The unit and the drop-ins of the page.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { HttpClient, testCertificate, until } from '../harness/index.js';
import { dropIns, installBlock } from './install-page.js';
import { noUnitHere, UID, UNIT, UnitMachine } from './unit-machine.js';

/** Exit code documented in `plinth --help`: a usage or configuration error. */
const CONFIGURATION_ERROR = 2;
/** Out of 10. The value results from the requirements of the unit: a network, sockets, notifications, and one capability. */
const MAX_EXPOSURE = 2.1;
const ANY_PORT = 'PLINTH_HTTP_BIND=127.0.0.1:0\n';

const noAnalysis =
  spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'no systemd-analyze';

describe('the unit, with each drop-in of the page', { skip: noAnalysis }, () => {
  let top = '';
  before(() => {
    top = mkdtempSync(join(tmpdir(), 'plinth-analysed-'));
  });
  after(() => rmSync(top, { recursive: true, force: true }));

  /** Writes the unit to a new folder. */
  function lay(dropIn: string): string {
    const folder = join(top, dropIn || 'alone');
    mkdirSync(join(folder, 'plinth.service.d'), { recursive: true });
    const file = join(folder, 'plinth.service');
    // The program only has to exist.
    writeFileSync(file, readFileSync(UNIT, 'utf8').replace('/opt/plinth/bin/plinth', '/bin/true'));
    const text = dropIns.get(dropIn);
    if (text !== undefined) writeFileSync(join(folder, 'plinth.service.d', dropIn), text);
    return file;
  }

  for (const dropIn of ['', ...dropIns.keys()]) {
    const title = dropIn || 'without one';
    it(`${title}: systemd accepts it, and its exposure has not grown`, () => {
      const file = lay(dropIn);
      const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
        encoding: 'utf8',
      });
      // Problems of other units on this machine do not matter.
      const ours = verified.stderr.split('\n').filter((line) => line.includes('plinth'));
      assert.deepEqual(ours, []);
      const args = ['security', '--offline=true', '--no-pager', file];
      const { stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      const [, exposure] = /exposure level for plinth\.service: ([\d.]+)/.exec(stdout) ?? [];
      assert.ok(Number(exposure) <= MAX_EXPOSURE, `exposure ${exposure}`);
    });
  }
});

it('the page has the drop-ins for configuration, two kinds of certificates, a backup disk and a fixed user', () => {
  assert.deepEqual([...dropIns.keys()].sort(), [
    'backup-disk.conf',
    'config.conf',
    'own-certificate.conf',
    'tls.conf',
    'user.conf',
  ]);
});

describe('a server with the variables, credentials and folders of the unit, as its user', {
  skip: noUnitHere(),
}, () => {
  it('ends with the code that the unit does not restart after a configuration error', async () => {
    await using machine = new UnitMachine();
    const [, kept = ''] =
      /^RestartPreventExitStatus=(.*)$/m.exec(readFileSync(UNIT, 'utf8')) ?? assert.fail('no code');
    assert.deepEqual(kept.split(' ').map(Number), [CONFIGURATION_ERROR]);
    machine.write('/etc/plinth/plinth.env', 'PLINTH_HTPP_BIND=127.0.0.1:0\n');
    assert.equal(await machine.start(), CONFIGURATION_ERROR);
    machine.write('/etc/plinth/plinth.env', 'PLINTH_CONFIG=/nowhere/plinth.json\n');
    assert.equal(await machine.start(), CONFIGURATION_ERROR);
    assert.match(machine.log, /PLINTH_CONFIG \/nowhere\/plinth\.json: /);
  });

  it('uses another Node from PLINTH_NODE', async () => {
    await using machine = new UnitMachine();
    machine.write('/etc/plinth/plinth.env', `${ANY_PORT}PLINTH_NODE=${process.execPath}\n`);
    assert.match(String(await machine.start()), /^http:/, machine.log);
  });

  it('reads a world-readable configuration file', async () => {
    await using machine = new UnitMachine();
    machine.run(installBlock('chmod 0644 /etc/plinth/plinth.json'));
    const file = machine.path('/etc/plinth/plinth.json');
    machine.write('/etc/plinth/plinth.json', '{ "server": { "http_bind": "127.0.0.1:0" } }', 0o644);
    machine.write('/etc/plinth/plinth.env', `PLINTH_CONFIG=${file}\n`);
    assert.match(String(await machine.start()), /^http:/, machine.log);
    await machine.stop();
    machine.run('chmod 0600 /etc/plinth/plinth.json');
    assert.equal(await machine.start(), CONFIGURATION_ERROR);
    assert.match(machine.log, /EACCES/);
  });

  it('reads configuration, key and certificate that only root may read', async () => {
    await using machine = new UnitMachine();
    const { keyFile, certFile, ca } = testCertificate('first');
    const live = '/etc/letsencrypt/live/plinth.example.com';
    mkdirSync(machine.path(live), { recursive: true, mode: 0o700 });
    machine.write(`${live}/fullchain.pem`, readFileSync(certFile, 'utf8'));
    machine.write(`${live}/privkey.pem`, readFileSync(keyFile, 'utf8'));
    machine.write('/etc/plinth/plinth.json', '{ "server": { "http_bind": "127.0.0.1:0" } }');
    const url = await machine.start(
      ['config.conf', 'tls.conf'].map((name) => dropIns.get(name) ?? assert.fail(name)),
    );
    assert.match(String(url), /^https:/, machine.log);
    const http = new HttpClient(String(url), ca);
    assert.equal((await http.send('/livez')).status, 200);
    http.close();
  });

  it('serves with its own certificate, and commands reach it as described on the page', async () => {
    await using machine = new UnitMachine();
    const { keyFile, certFile } = testCertificate('first');
    const commands = installBlock('install -m 0600 fullchain.pem').split('sudo tee')[0] ?? '';
    machine.run(commands.replace('fullchain.pem', certFile).replace('privkey.pem', keyFile));
    machine.run(installBlock('install -m 0644 ca.pem').replace('ca.pem', certFile));
    assert.equal(statSync(machine.path('/etc/plinth/ca.pem')).mode & 0o777, 0o644);
    for (const name of ['cert.pem', 'key.pem'])
      assert.equal(statSync(machine.path(`/etc/plinth/tls/${name}`)).mode & 0o777, 0o600);
    machine.write('/etc/plinth/plinth.env', `${ANY_PORT}PLINTH_IDENTITY_WITHOUT_AUTH=true\n`);
    const dropIn = dropIns.get('own-certificate.conf') ?? assert.fail('no drop-in');
    const url = String(await machine.start([dropIn]));
    assert.match(url, /^https:/, machine.log);
    const [, withCa = ''] =
      /^(plinth status .*--tls-ca .*)$/m.exec(installBlock('plinth status --host')) ?? [];
    assert.match(machine.run(withCa.replace('https://plinth.example.com', url)), /\S/);
  });

  it('creates scheduled backups, and serves one that root restored', async () => {
    await using machine = new UnitMachine();
    const backups = machine.path('/var/lib/plinth-backups');
    machine.run(installBlock('PLINTH_BACKUP_SCHEDULE='));
    const variables = readFileSync(machine.path('/etc/plinth/plinth.env'), 'utf8');
    assert.match(variables, /^PLINTH_BACKUP_SCHEDULE="0 30 2 \* \* \*"$/m);
    const eachSecond = variables.replace('0 30 2 * * *', '* * * * * *');
    const open = 'PLINTH_IDENTITY_WITHOUT_AUTH=true\n';
    machine.write('/etc/plinth/plinth.env', `${eachSecond}${ANY_PORT}${open}`);

    const first = new HttpClient(String(await machine.start()));
    const write = { method: 'POST', body: 'air temp=21.5 1' };
    assert.equal((await first.send('/api/v3/write_lp?db=home', write)).status, 204, machine.log);
    const sinceMs = Date.now();
    // A backup created after the write contains the row.
    const later = () =>
      readdirSync(backups).filter(
        (name) => !name.endsWith('.part') && statSync(join(backups, name)).birthtimeMs > sinceMs,
      );
    await until(async () => later().length > 0, 'a backup');
    first.close();
    await machine.stop();
    const [backup = ''] = later();
    const restore = installBlock('plinth restore').replace('plinth-20260101T023000Z', backup);
    machine.write('/etc/plinth/plinth.env', `${ANY_PORT}${open}`);
    machine.run(restore);
    assert.equal(statSync(machine.path('/var/lib/plinth')).uid, 0);

    const url = String(await machine.start());
    assert.match(url, /^http:/, machine.log);
    assert.equal(statSync(machine.path('/var/lib/plinth/plinth.db')).uid, UID);
    const second = new HttpClient(url);
    const query = '/api/v3/query_sql?db=home&format=csv&q=SELECT%20temp%20FROM%20air';
    assert.equal((await second.send(query)).text, 'temp\n21.5\n');
    second.close();
  });

  it('stores the claim code where the page describes, readable by its user and root', async () => {
    await using machine = new UnitMachine();
    machine.write('/etc/plinth/plinth.env', 'PLINTH_HTTP_BIND=0.0.0.0:0\n');
    const url = String(await machine.start()).replace('0.0.0.0', '127.0.0.1');
    const create =
      /^sudo plinth token create .*$/m.exec(installBlock('PLINTH_SERVER_TRUSTED_PROXIES'))?.[0] ??
      assert.fail('no command');
    const [, file = ''] = /--claim-code-file (\S+)/.exec(create) ?? [];
    assert.equal(statSync(machine.path(file)).mode & 0o777, 0o600);
    // Without a proxy, whose certificate the command on the page trusts.
    const token = machine.run(
      create.replace('https://plinth.example.com', url).replace(/ --tls-ca \S+/, ''),
    );
    assert.match(token, /apiv3_/);
  });
});
