import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../lib/root.mjs';

/**
 * Writes the components of the archive in CycloneDX format: the packages that npm lists, and the packages inside built files (program,
 * console, documentation), which npm does not list.
 * @param installed the folder with `node_modules`, as npm left it.
 * @param bundled packages inside built files, with name, version and license identifier.
 */
export function writeSbom({ installed, file, release, bundled }) {
  const options = { cwd: installed, encoding: 'utf8', maxBuffer: 1 << 26 };
  const sbom = JSON.parse(execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], options));
  const isOwn = ({ name }) => name === 'plinth';
  const own = sbom.components.find(isOwn);
  const folder = sbom.metadata.component['bom-ref'];
  sbom.components = sbom.components.filter((component) => !isOwn(component));
  sbom.dependencies = sbom.dependencies.filter(({ ref }) => ref !== folder);
  sbom.metadata.component = {
    'bom-ref': own['bom-ref'],
    type: 'application',
    name: own.name,
    version: own.version,
    purl: `pkg:npm/plinth@${own.version}`,
    licenses: own.licenses,
  };
  sbom.metadata.timestamp = new Date(release.builtSec * 1000).toISOString();
  delete sbom.serialNumber;
  addBundled(sbom, bundled);
  addHashes(sbom, readIntegrity());
  sbom.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(sbom))}`;
  fs.writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
  return { file, sizeBytes: fs.statSync(file).size, fileCount: 1 };
}

function addBundled(sbom, bundled) {
  const known = new Set(sbom.components.map(({ name, version }) => `${name}@${version}`));
  const added = [];
  for (const { name, version, identifier } of bundled) {
    const id = `${name}@${version}`;
    if (known.has(id)) continue;
    known.add(id);
    added.push(id);
    sbom.components.push({
      'bom-ref': id,
      type: 'library',
      name,
      version,
      scope: 'required',
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      licenses: [
        / (?:AND|OR) /.test(identifier)
          ? { expression: identifier }
          : { license: { id: identifier } },
      ],
    });
    sbom.dependencies.push({ ref: id, dependsOn: [] });
  }
  const reference = sbom.metadata.component['bom-ref'];
  const own = sbom.dependencies.find(({ ref }) => ref === reference);
  own.dependsOn = [...new Set([...own.dependsOn, ...added])].sort();
  sbom.components.sort(byReference);
}

/** Adds the checksums of the packages' archives, as npm verifies them. A component without a locked checksum gets none. */
export function addHashes(sbom, integrities) {
  for (const component of sbom.components) {
    const integrity = integrities.get(`${component.name}@${component.version}`) ?? '';
    const hashes = integrity.split(/\s+/).flatMap((each) => {
      const [, size, base64] = /^sha(256|384|512)-(.+)$/.exec(each) ?? [];
      const content = Buffer.from(base64 ?? '', 'base64').toString('hex');
      return size === undefined ? [] : [{ alg: `SHA-${size}`, content }];
    });
    if (hashes.length > 0) component.hashes = hashes;
  }
}

/** The documentation's packages are not part of the workspaces. */
const LOCKS = ['package-lock.json', 'docs/site/package-lock.json'];

/** Checksums in the lock files, by name and version. */
export function readIntegrity() {
  const packages = LOCKS.flatMap((name) =>
    Object.entries(JSON.parse(fs.readFileSync(path.join(root, name), 'utf8')).packages),
  );
  return new Map(
    packages.flatMap(([place, { version, integrity }]) => {
      const name = place.split('node_modules/').at(-1);
      return integrity === undefined ? [] : [[`${name}@${version}`, integrity]];
    }),
  );
}

const byReference = (a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1);

/** Derives a version 8 UUID (RFC 9562, section 5.8) from the content, so that the same release has the same UUID. */
function uuidOf(text) {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x80;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
