// Source: https://keepachangelog.com/en/1.1.0/ and the head of CHANGELOG.md.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../scripts/changelog.mjs', import.meta.url));

/** Returns the output of the check for a changelog; empty without findings. */
function check(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-changelog-'));
  try {
    const file = join(folder, 'CHANGELOG.md');
    writeFileSync(file, text);
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, file], { encoding: 'utf8' });
    assert.equal(status, stderr === '' ? 0 : 1);
    return stderr.trimEnd().replaceAll('CHANGELOG.md:', '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const HEAD = '# Changelog\n\nWords.\n\n## [Unreleased]\n';
const RELEASED =
  '\n## [1.1.0] - 2026-02-28\n\n### Added\n\n- Server: a.\n\n## [1.0.0] - 2026-01-31\n';

it('takes new lines, groups, services and versions in their order', () => {
  const groups = '\n### Added\n\n- Server: a.\n- Time series: b.\n\n### Security\n\n- Server: c.\n';
  assert.equal(check(HEAD), '');
  assert.equal(check(`${HEAD}\n- New, and\n  longer.\n${groups}${RELEASED}`), '');
});

for (const [what, text, says] of [
  ['another title', HEAD.replace('Changelog', 'Changes'), /^1: the first line/],
  [
    'no place for what is new',
    `# Changelog\n${RELEASED}`,
    /^1: the first heading must be "## \[Unreleased\]"/,
  ],
  [
    'a day that is none',
    `${HEAD}${RELEASED.replace('02-28', '02-30')}`,
    /^7: invalid version heading .*02-30/,
  ],
  ['a version without a day', `${HEAD}\n## [1.0.0]\n`, /^7: invalid version heading/],
  [
    'versions the wrong way round',
    `${HEAD}${RELEASED.replace('1.1.0', '0.9.10')}`,
    /^13: the newest version comes first/,
  ],
  ['another group', `${HEAD}\n### News\n`, /^7: a group is one of Added/],
  [
    'groups in another order',
    `${HEAD}\n### Fixed\n\n### Added\n`,
    /^9: groups come once and in this order/,
  ],
  ['a line without its service', `${HEAD}\n### Added\n\n- a.\n`, /^9: a line below a group is/],
  ['another service', `${HEAD}\n### Added\n\n- Weather: a.\n`, /^9: .*SERVICE one of Server, /],
  [
    'services in another order',
    `${HEAD}\n### Added\n\n- Limits: a.\n- Server: b.\n`,
    /^10: Server comes before Limits/,
  ],
  ['a line that goes on', `${HEAD}\n### Added\n\n- Server: a\n  b.\n`, /^10: a line below a group/],
  [
    'a line that is too long',
    `${HEAD}\n### Added\n\n- Server: ${'a'.repeat(170)}\n`,
    /^9: 180 characters, at most 170/,
  ],
  [
    'a line twice',
    `${HEAD}\n### Added\n\n- Server: a.\n- Server: a.\n`,
    /^10: duplicate of a line above/,
  ],
  [
    'a line of a version without a group',
    `${HEAD}\n## [1.0.0] - 2026-01-31\n\n- Server: a.\n`,
    /^9: a line below a group/,
  ],
] as const) {
  it(`refuses ${what}`, () => assert.match(check(text), says));
}
