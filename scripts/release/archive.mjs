import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../lib/root.mjs';
import { copyPages } from './archive-pages.mjs';
import { writeSbom } from './sbom.mjs';

/** npm's own record of the installation. It is not used at run time and contains the build path. */
const NOTES_OF_NPM = ['package-lock.json', path.join('node_modules', '.package-lock.json')];

/**
 * Builds an archive for machines without npm, and its SBOM. It contains the package with its dependencies for this platform, a
 * command, a systemd unit, alert rules, dashboards and the pages of `docs/`. Dependencies come from the registry.
 * @returns both files.
 */
export function makeArchive({ package: file, work, out, release, bundled }) {
  const name = `plinth-${release.version}-linux-${process.arch}`;
  const folder = path.join(work, name);
  fs.mkdirSync(path.join(folder, 'lib'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'lib', 'package.json'), '{"private":true}\n');
  fs.writeFileSync(path.join(folder, 'lib', 'package-lock.json'), lockedPackages());
  const install = ['install', '--omit=dev', '--no-audit', '--no-fund', '--ignore-scripts', file];
  execFileSync('npm', install, {
    cwd: path.join(folder, 'lib'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const [from, to] of [
    ['plinth', 'bin/plinth'],
    ['plinth.service', 'lib/systemd/system/plinth.service'],
    ['prometheus', 'share/prometheus'],
    ['grafana', 'share/grafana'],
  ]) {
    fs.cpSync(path.join(root, 'packaging', from), path.join(folder, to), { recursive: true });
  }
  fs.chmodSync(path.join(folder, 'bin', 'plinth'), 0o755);
  copyPages(path.join(root, 'docs'), folder);
  for (const notes of NOTES_OF_NPM) fs.rmSync(path.join(folder, 'lib', notes));
  // Replaces a path of the build machine.
  const { version } = release;
  const manifest = {
    name: 'plinth-archive',
    version,
    private: true,
    dependencies: { plinth: version },
  };
  fs.writeFileSync(path.join(folder, 'lib', 'package.json'), `${JSON.stringify(manifest)}\n`);
  const sbom = writeSbom({
    installed: path.join(folder, 'lib'),
    file: path.join(out, `${name}.cdx.json`),
    ...{ release, bundled },
  });
  const archive = path.join(out, `${name}.tar.gz`);
  writeTar(archive, { from: work, name, release });
  const listed = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const tar = {
    file: archive,
    sizeBytes: fs.statSync(archive).size,
    fileCount: listed.filter((entry) => entry.isFile()).length,
  };
  return [tar, sbom];
}

/** Pins the tested versions, so that newer versions in the registry do not change the archive. npm removes unused packages. */
function lockedPackages() {
  const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const isPublic = ([name, { link }]) => name.startsWith('node_modules/') && link !== true;
  const packages = Object.fromEntries(Object.entries(lock.packages).filter(isPublic));
  return JSON.stringify({
    lockfileVersion: lock.lockfileVersion,
    packages: { '': {}, ...packages },
  });
}

/** Sorts names and fixes time, owner and permissions, so that the archive does not depend on the machine or the umask. */
function writeTar(archive, { from, name, release }) {
  const args = [
    ...['--sort=name', '--format=gnu', '--owner=0', '--group=0', '--numeric-owner'],
    ...[`--mtime=@${release.builtSec}`, '--mode=u+rw,go+r-w,a+X', '--hard-dereference'],
    ...['--use-compress-program=gzip --no-name', '-C', from],
  ];
  execFileSync('tar', ['--create', '--file', archive, ...args, name]);
}
