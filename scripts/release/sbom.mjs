import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../lib/root.mjs';

/**
 * The components of a release in CycloneDX: what npm knows of the packages that are needed to run, and what is inside of built
 * files (console, documentation), which npm takes for development.
 * @param bundled packages inside of our files, with name, version and licence identifier.
 */
export function writeSbom({ out, release, bundled }) {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'];
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 };
  const sbom = JSON.parse(execFileSync('npm', args, options));
  const { component } = sbom.metadata;
  const reference = component['bom-ref'];
  Object.assign(component, { type: 'application', name: 'plinth', version: release.version });
  component.purl = `pkg:npm/plinth@${release.version}`;
  sbom.metadata.timestamp = new Date(release.builtSec * 1000).toISOString();
  delete sbom.serialNumber;
  addBundled(sbom, { bundled, reference });
  sbom.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(sbom))}`;
  const file = path.join(out, `plinth-${release.version}.cdx.json`);
  fs.writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
  return { file, sizeBytes: fs.statSync(file).size, fileCount: 1 };
}

function addBundled(sbom, { bundled, reference }) {
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
  const own = sbom.dependencies.find(({ ref }) => ref === reference);
  own.dependsOn = [...new Set([...own.dependsOn, ...added])].sort();
  sbom.components.sort(byReference);
}

const byReference = (a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1);

/** Of the content, in the form of version 8 (RFC 9562, section 5.8): the same release has the same. */
function uuidOf(text) {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x80;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
