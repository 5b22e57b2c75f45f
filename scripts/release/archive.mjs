import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../lib/root.mjs';

/**
 * An archive for machines without npm: the package with all that it depends on for this system and processor, a command, a unit
 * of systemd, alert rules and dashboards. Its packages come from the registry.
 */
export function makeArchive({ package: file, work, out, release }) {
  const name = `plinth-${release.version}-linux-${process.arch}`;
  const folder = path.join(work, name);
  fs.mkdirSync(path.join(folder, 'lib'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'lib', 'package.json'), '{"private":true}\n');
  const install = ['install', '--omit=dev', '--no-audit', '--no-fund', '--ignore-scripts', file];
  execFileSync('npm', install, {
    cwd: path.join(folder, 'lib'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const [from, to] of [
    ['plinth', 'bin/plinth'],
    ['plinth.service', 'lib/systemd/system/plinth.service'],
    ['INSTALL.md', 'INSTALL.md'],
    ['prometheus', 'share/prometheus'],
    ['grafana', 'share/grafana'],
  ]) {
    fs.cpSync(path.join(root, 'packaging', from), path.join(folder, to), { recursive: true });
  }
  fs.chmodSync(path.join(folder, 'bin', 'plinth'), 0o755);
  const archive = path.join(out, `${name}.tar.gz`);
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name'];
  execFileSync('tar', ['-czf', archive, ...owner, '-C', work, name]);
  const listed = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return {
    file: archive,
    sizeBytes: fs.statSync(archive).size,
    fileCount: listed.filter((entry) => entry.isFile()).length,
  };
}
