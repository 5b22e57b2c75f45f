// Source: docs/RELEASING.md, "Release files"; CycloneDX 1.5, "hashes".
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';

const { addHashes, readIntegrity } = await import(
  new URL('../../../scripts/release/sbom.mjs', import.meta.url).href
);

it('adds the locked checksums in hexadecimal, and none to unknown packages', () => {
  const bytes = Buffer.from('content of an archive');
  const sumOf = (name: string) => createHash(name).update(bytes);
  const sbom = {
    components: [
      { name: '@a/b', version: '1.0.0' },
      { name: 'c', version: '2.0.0' },
    ] as { name: string; version: string; hashes?: unknown }[],
  };
  const integrity = `sha512-${sumOf('sha512').digest('base64')} sha256-${sumOf('sha256').digest('base64')}`;
  addHashes(sbom, new Map([['@a/b@1.0.0', integrity]]));
  assert.deepEqual(
    sbom.components.map(({ hashes }) => hashes),
    [
      [
        { alg: 'SHA-512', content: sumOf('sha512').digest('hex') },
        { alg: 'SHA-256', content: sumOf('sha256').digest('hex') },
      ],
      undefined,
    ],
  );
});

it('reads a checksum for each locked package from a registry', () => {
  const integrities: ReadonlyMap<string, string> = readIntegrity();
  assert.ok(integrities.size > 300, String(integrities.size));
  assert.match(integrities.get('typebox@1.4.3') ?? '', /^sha512-/);
  // Built into the documentation, which has its own lock file.
  assert.ok([...integrities.keys()].some((name) => name.startsWith('minisearch@')));
});
