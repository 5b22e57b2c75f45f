import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const PACKAGE = join(import.meta.dirname, '..');
const STATION = /^\d+\. `([^`]+)`: `(\w+)`/;
/** A file that is named anywhere, from `src/` on. */
const FILE = /`((?:[\w-]+\/)*[\w-]+\.ts)`/g;

describe('ARCHITECTURE.md', async () => {
  const page = await readFile(join(PACKAGE, 'ARCHITECTURE.md'), 'utf8');
  for (const section of page.split(/^## /m).slice(1)) {
    const [title = '', ...lines] = section.split('\n');
    const stations = lines.filter((line) => /^\d/.test(line));
    it(`walks by files and names that there are: ${title}`, async () => {
      assert.ok(stations.length > 0);
      for (const [i, line] of stations.entries()) {
        assert.ok(line.startsWith(`${i + 1}. `), `${line} is out of turn`);
        const [, file = '', name = ''] = STATION.exec(line) ?? assert.fail(`no station: ${line}`);
        const source = await readFile(join(PACKAGE, 'src', file), 'utf8');
        const exported = new RegExp(
          `^export (?:async )?(?:function\\*?|class|const|interface) ${name}\\b`,
          'm',
        );
        assert.match(source, exported, `${file} exports no ${name}`);
      }
    });
  }

  it('names no file that is not there', async () => {
    for (const [, file = ''] of page.matchAll(FILE))
      await access(join(PACKAGE, file.startsWith('src/') ? '' : 'src', file));
  });
});
